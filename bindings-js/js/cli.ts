#!/usr/bin/env node
// The program `memdir`: hands the command line to the core, which does everything else.

import { constants } from "node:os";

import { text } from "./check.js";
import { call, core } from "./core.js";
import { isMemdirError } from "./errors.js";
import { drive } from "./host.js";
import { environment, homeDirectory, workingDirectory } from "./surroundings.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** What a program exits with that was interrupted, as shells say it. */
let interrupted: number | undefined;

async function main(): Promise<number> {
  const stop = new AbortController();
  const interrupt = (signal: (typeof SIGNALS)[number]) => {
    // The second one ends the program at once, as without this.
    SIGNALS.forEach((name) => process.off(name, interrupt));
    interrupted = 128 + constants.signals[signal];
    stop.abort();
  };
  SIGNALS.forEach((name) => process.on(name, interrupt));
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
    if (interrupted !== undefined && isMemdirError(error) && error.code === "aborted") {
      process.exitCode = interrupted;
      return;
    }
    const message = isMemdirError(error) ? error.message : String(error);
    process.stderr.write(`memdir: ${message}\n`);
    process.exitCode = 1;
  },
);
