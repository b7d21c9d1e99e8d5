// Node's ways of loading a chain of instructions: everything at once, as programs do it, and memdir.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Memdir } from "../bindings-js/dist/index.mjs";
import { measure } from "./measure.mjs";

const [, , cwd, which] = process.argv;
const open = () => Memdir.open({ cwd, home: "/nonexistent", env: {} });

function files() {
  const found = [];
  const take = (path) => {
    try {
      const text = readFileSync(path, "utf8");
      found.push(path);
      return text;
    } catch {
      return "";
    }
  };
  for (let folder = cwd; folder !== dirname(folder); folder = dirname(folder)) {
    const text = take(join(folder, "CLAUDE.md"));
    take(join(folder, ".claude/CLAUDE.md"));
    take(join(folder, "CLAUDE.local.md"));
    for (const [, target] of text.matchAll(/(?:^|\s)@(\S+)/g)) take(join(folder, target));
    let rules = [];
    try {
      rules = readdirSync(join(folder, ".claude/rules"), { recursive: true });
    } catch {
      // There are none.
    }
    for (const rule of rules) if (rule.endsWith(".md")) take(join(folder, ".claude/rules", rule));
  }
  return found;
}

const known = files();
const warm = await open();
await warm.instructions();
const rows = await measure(
  [
    ["raw Node calls: read the files", () => known.map((path) => readFileSync(path, "utf8"))],
    ["raw Node calls: look in all places and read", files],
    ["memdir in Node, first load", (memory) => memory.instructions(), open],
    ["memdir in Node, later load: nothing is read", () => warm.instructions()],
  ],
  which === "rules" ? 5 : 200,
);
console.log(JSON.stringify(rows));
