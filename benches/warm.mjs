// Node's ways of seeing that nothing in a store has changed.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Memdir } from "../bindings-js/dist/index.mjs";
import { measure } from "./measure.mjs";

const folder = process.argv[2];
const memory = await Memdir.open({ directory: folder });
await memory.scan();

function rawSync() {
  return readdirSync(folder).map((name) => lstatSync(join(folder, name)).mtimeMs);
}

const rows = await measure(
  [
    ["raw Node loop: list, lstat", rawSync],
    ["memdir in Node", () => memory.scan()],
  ],
  60,
);
console.log(JSON.stringify(rows));
