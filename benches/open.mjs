// New Node processes: an empty one, and one that opens a store.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { measure } from "./measure.mjs";

const folder = process.argv[2];
const entry = fileURLToPath(new URL("../bindings-js/dist/index.mjs", import.meta.url));
const opening = `import { Memdir } from ${JSON.stringify(entry)}; await Memdir.open({ directory: ${JSON.stringify(folder)} });`;

function run(program) {
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
  if (status !== 0) throw new Error(String(stderr));
}

const rows = await measure(
  [
    ["node, an empty program", () => run("")],
    ["node, a program that opens a store", () => run(opening)],
  ],
  20,
);
console.log(JSON.stringify(rows));
