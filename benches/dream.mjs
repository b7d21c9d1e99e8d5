// Dreams once over a project and prints [ms, bytes at the peak, memories improved]; with a number as fourth argument
// it asks so often whether it is time, and prints the milliseconds of one question.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Memdir } from "../bindings-js/dist/index.mjs";

const [cwd, directory, config, calls] = process.argv.slice(2);
const call = (name, input) => ({ type: "tool_use", id: `${name}-1`, name, input });
const grep = (pattern, path, output_mode) => call("Grep", { pattern, path, output_mode });

// The same as in the native measurement.
function script() {
  const sessions = dirname(directory);
  const paths = readdirSync(directory).filter((name) => name.endsWith(".md")).sort().slice(0, 20)
    .map((name) => join(directory, name));
  return [
    [grep("topic", directory, "files_with_matches"), grep("whole suite", directory, "content")],
    [grep('\\\\"whole\\\\" suite', sessions, "content")],
    [grep('toolu_1[0-9]*7"', sessions, "count")],
    [grep("never said by anybody", sessions, "content")],
    paths.map((file_path) => call("Read", { file_path })),
    paths.map((file_path) =>
      call("Edit", {
        file_path,
        old_string: "description: What to know",
        new_string: "description: All there is to know",
      })),
  ];
}

const turns = calls === undefined ? script() : [];
const memory = await Memdir.open({
  cwd, directory, env: { CLAUDE_CONFIG_DIR: config }, features: { dream: true },
  model: () => { const content = turns.shift(); return JSON.stringify(content === undefined ? "Done." : { content }); },
});
if (calls === undefined) {
  const start = performance.now();
  const { outcome, improved, message } = await memory.dream({ force: true });
  const ms = performance.now() - start;
  const peak = process.resourceUsage().maxRSS * 1024;
  if (outcome !== "done" || improved.length !== 20) throw new Error(`${outcome} ${improved} ${message}`);
  await memory.undoDream();
  console.log(JSON.stringify([ms, peak, improved.length]));
} else {
  const { reason } = await memory.dream();
  if (reason !== "too-soon") throw new Error(`it was to be too soon: ${reason}`);
  for (let warm = 0; warm < 100; warm += 1) await memory.dream();
  const start = performance.now();
  for (let call = 0; call < Number(calls); call += 1) await memory.dream();
  console.log((performance.now() - start) / Number(calls));
}
await memory.close();
