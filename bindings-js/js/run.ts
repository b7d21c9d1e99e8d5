// The effects that start programs: `run`, never through a shell and with only the environment that
// the flow gives, and `open-editor`, which has the terminal and the environment of this process.

import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

import { bytesOf, type Effects, type Outcome } from "./effects.js";
import { Failed } from "./failure.js";
import { within } from "./within.js";

/** How long the output of a program that has ended may still take to arrive. */
const DRAIN_MS = 500;
/** A group of its own, so that what the program started ends with it. */
const OWN_GROUP = process.platform !== "win32";

export function run(effect: Effects["run"], stop: AbortSignal): Promise<Outcome> {
  return within(stop, effect.timeoutMs, (signal) => finish(effect, signal));
}

function finish({ argv, cwd, env, stdin, maxBytes }: Effects["run"], signal: AbortSignal): Promise<Outcome> {
  const [program, ...args] = argv;
  if (program === undefined) {
    return Promise.reject(new Failed("invalid-name", "no program is named"));
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
      stdio: [stdin === null ? "ignore" : "pipe", "pipe", "pipe"],
      detached: OWN_GROUP,
      windowsHide: true,
    });
    // A program that does not read its input breaks the pipe, which is its own business.
    child.stdin?.on("error", () => {}).end(stdin === null ? "" : bytesOf(stdin));
    const stdout = collect(child.stdout, maxBytes);
    const stderr = collect(child.stderr, maxBytes);
    const answer = () => resolve({ ran: { exitCode: child.exitCode, stdout: stdout(), stderr: stderr() } });
    child.on("error", reject);
    child.on("close", answer);
    // A pipe that a grandchild keeps open is not waited for.
    child.on("exit", () => {
      const drained = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        answer();
      }, DRAIN_MS);
      child.on("close", () => clearTimeout(drained));
    });
    signal.addEventListener("abort", () => kill(child), { once: true });
  });
}

/** Reads a stream to its end; gives the first bytes of it so far. */
function collect(stream: Readable | null, maxBytes: number): () => Uint8Array {
  const parts: Buffer[] = [];
  let missing = maxBytes;
  stream?.on("data", (part: Buffer) => {
    const kept = part.subarray(0, missing);
    missing -= kept.length;
    parts.push(kept);
  });
  return () => Buffer.concat(parts);
}

function kill(child: ChildProcess): void {
  try {
    if (OWN_GROUP && child.pid !== undefined) {
      process.kill(-child.pid, "SIGKILL");
    } else {
      child.kill("SIGKILL");
    }
  } catch {
    // It has just ended by itself.
  }
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Hands the terminal to the editor until it ends. */
export function openEditor({ argv }: Effects["open-editor"]): Promise<Outcome> {
  const [program, ...args] = argv;
  if (program === undefined) {
    return Promise.reject(new Failed("invalid-name", "no program is named"));
  }
  const listen = deaf();
  return new Promise<Outcome>((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) {
        resolve("done");
      } else {
        reject(new Failed("other", `the editor ${program} ended with ${code ?? signal}`));
      }
    });
  }).finally(listen);
}

/**
 * Ctrl-C in an editor reaches this process as well, and must not end it while the editor has the terminal. Gives what
 * ends that.
 */
function deaf(): () => void {
  const listeners = process.listeners("SIGINT");
  const ignore = () => {};
  process.on("SIGINT", ignore);
  listeners.forEach((listener) => process.off("SIGINT", listener));
  return () => {
    listeners.forEach((listener) => process.on("SIGINT", listener));
    process.off("SIGINT", ignore);
  };
}
