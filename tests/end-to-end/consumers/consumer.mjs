// An ECMAScript module that uses the package; argv: the store. Prints JSON.
import { createRequire } from "node:module";

import { Memdir, MemdirError } from "memdir";
import { projectSlug } from "memdir/rules";

const require = createRequire(import.meta.url);
const memory = await Memdir.open({ directory: process.argv[2] });
const { memories, report } = await memory.scan();
const first = await memory.read(memories[0].path);
const prompt = await memory.prompt();
const manifest = await memory.manifest();
const { findings } = await memory.lint();
await memory.close();

let code = null;
try {
  await Memdir.open({ directory: "relative" });
} catch (error) {
  if (error instanceof MemdirError) code = error.code;
}

console.log(
  JSON.stringify({
    paths: memories.map(({ path }) => path),
    reported: report.map(({ path }) => path),
    directory: memory.directory,
    chosenBy: memory.opened.chosenBy,
    findings: findings.map(({ path }) => path),
    read: JSON.stringify(first).includes(memories[0].name),
    prompt: typeof prompt,
    manifestLines: manifest.trimEnd().split("\n").length,
    slug: projectSlug("/home/ines/ingest"),
    oneClass: require("memdir").Memdir === Memdir,
    oneError: require("memdir").MemdirError === MemdirError,
    code,
  }),
);
