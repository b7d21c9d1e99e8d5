// Node's ways of reading the heads of a store.
import { closeSync, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { open, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import fastGlob from "fast-glob";
import matter from "gray-matter";
import { measure } from "./measure.mjs";
import { Memdir } from "../bindings-js/dist/index.mjs";

const folder = process.argv[2];
const head = Buffer.alloc(4096);

function rawSync() {
  for (const name of readdirSync(folder)) {
    const file = openSync(join(folder, name), "r");
    readSync(file, head, 0, 4096, 0);
    fstatSync(file);
    closeSync(file);
  }
}

async function rawAsync() {
  const names = await readdir(folder);
  await Promise.all(
    names.map(async (name) => {
      const file = await open(join(folder, name), "r");
      await file.read(Buffer.alloc(4096), 0, 4096, 0);
      await file.stat();
      await file.close();
    }),
  );
}

async function grayMatter() {
  const names = await fastGlob("**/*.md", { cwd: folder, absolute: true, stats: true });
  // Without the options object gray-matter answers repeated texts from a cache.
  return Promise.all(names.map(async ({ path }) => matter(await readFile(path, "utf8"), {}).data));
}

const ours = [
  ["raw Node loop, synchronous", rawSync],
  ["memdir in Node", (memory) => memory.scan(), () => Memdir.open({ directory: folder })],
];
const others = [
  ["raw Node loop, asynchronous", rawAsync],
  ["gray-matter with fast-glob", grayMatter],
];
console.log(JSON.stringify([...(await measure(ours, 200)), ...(await measure(others, 100))]));
