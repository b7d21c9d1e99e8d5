// Node's ways of putting a new memory and its index line on disk.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { measure } from "./measure.mjs";
import { Memdir } from "../bindings-js/dist/index.mjs";

const folder = process.argv[2];
const [sync, async, ours] = ["sync", "async", "ours"].map((name) => join(folder, name));
for (const each of [sync, async]) mkdirSync(each, { recursive: true });

const memory = await Memdir.open({ directory: ours });
const body = "The rule is to run the whole suite first.\n".repeat(60);
let number = 0;
const save = (name) => memory.save({ type: "project", name, description: `What to know about ${name}`, body });
// The other ways write what ours has written.
await save("first");
const text = readFileSync(join(ours, "project_first.md"));
const indexes = { sync: "", async: "" };

function replaceSync(path, content) {
  const file = openSync(`${path}.tmp`, "wx", 0o600);
  writeSync(file, content);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.tmp`, path);
}

async function replace(path, content) {
  const file = await open(`${path}.tmp`, "wx", 0o600);
  await file.writeFile(content);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
}

const line = (name) => `- [${name}](project_${name}.md) — What to know about ${name}\n`;
const next = () => `save_${++number}`;
const ways = [
  [
    "raw Node calls, synchronous",
    (name) => {
      replaceSync(join(sync, `project_${name}.md`), text);
      replaceSync(join(sync, "MEMORY.md"), (indexes.sync += line(name)));
    },
    next,
  ],
  ["memdir in Node", save, next],
  [
    "raw Node calls, asynchronous",
    async (name) => {
      await replace(join(async, `project_${name}.md`), text);
      await replace(join(async, "MEMORY.md"), (indexes.async += line(name)));
    },
    next,
  ],
];
console.log(JSON.stringify(await measure(ways, 150)));
