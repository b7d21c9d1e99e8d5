// Node's ways of finding out where the store of a project is.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Memdir } from "../bindings-js/dist/index.mjs";
import { measure } from "./measure.mjs";

const project = process.argv[2];
const config = join(project, "config");
const settings = [
  "/etc/claude-code/managed-settings.json",
  "/Library/Application Support/ClaudeCode/managed-settings.json",
  join(project, ".claude/settings.local.json"),
  join(project, ".claude/settings.json"),
  join(config, "settings.json"),
];

function rawSync() {
  statSync(join(project, ".git"));
  return settings.map((path) => {
    try {
      return readFileSync(path);
    } catch {
      return null;
    }
  });
}

const env = { CLAUDE_CONFIG_DIR: config };
const rows = await measure(
  [
    ["raw Node calls: .git, five settings files", rawSync],
    ["memdir in Node", () => Memdir.open({ cwd: project, env })],
  ],
  200,
);
console.log(JSON.stringify(rows));
