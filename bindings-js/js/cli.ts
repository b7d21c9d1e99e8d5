#!/usr/bin/env node
// The program `memdir`: hands the command line to the core, which does everything else.

import { text } from "./check.js";
import { call, core } from "./core.js";
import { isMemdirError } from "./errors.js";
import { drive } from "./host.js";
import { environment, homeDirectory, workingDirectory } from "./surroundings.js";

async function main(): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // The second one ends the program at once, as without this.
    process.once(signal, () => stop.abort(signal));
  }
  const args = process.argv.slice(2).map((argument, index) => text(argument, `argument ${index + 1}`));
  const instance = core();
  const surroundings = { cwd: workingDirectory(), home: homeDirectory(), env: environment() };
  const flow = call(instance, () => instance.command({ args, ...surroundings }));
  return drive<number>(instance, flow, {}, stop.signal);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const message = isMemdirError(error) ? error.message : String(error);
    process.stderr.write(`memdir: ${message}\n`);
    process.exitCode = 1;
  },
);
