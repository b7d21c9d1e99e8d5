// Node's ways of looking through all memories: for the first time, and again when nothing has changed.
import { closeSync, lstatSync, openSync, readSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Memdir } from "../bindings-js/dist/index.mjs";
import { measure } from "./measure.mjs";

const [folder, question, which] = process.argv.slice(2);
const buffer = Buffer.alloc(65_536);

function names() {
  return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => name);
}

function readAll() {
  for (const name of names()) {
    const file = openSync(join(folder, name), "r");
    readSync(file, buffer, 0, buffer.length, 0);
    closeSync(file);
  }
}

function statAll() {
  return names().map((name) => lstatSync(join(folder, name)).mtimeMs);
}

const ways = {
  async first() {
    const open = () => Memdir.open({ directory: folder, features: { countUses: false } });
    const ways = [
      ["raw Node loop: list, open, read all, close", readAll],
      ["memdir in Node", (memory) => memory.recall(question), open],
    ];
    return measure(ways, 7);
  },
  async later() {
    const memory = await Memdir.open({ directory: folder, features: { countUses: false } });
    await memory.recall(question);
    const ways = [
      ["raw Node loop: list, lstat", statAll],
      ["memdir in Node", () => memory.recall(question)],
    ];
    return measure(ways, 60);
  },
};
console.log(JSON.stringify(await ways[which]()));
