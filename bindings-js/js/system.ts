// The effects about the machine itself: its clock, its random bytes, its processes, its name, its
// folders as they change.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync, watch as watchFolder } from "node:fs";
import { hostname } from "node:os";

import type { Effects, Outcome } from "./effects.js";
import { errno, Failed } from "./failure.js";
import { within } from "./within.js";

const MAX_PID = 2 ** 31 - 1;
const WINDOWS = process.platform === "win32";

export function now(): Outcome {
  const date = new Date();
  return { now: { ms: date.getTime(), offsetMinutes: -date.getTimezoneOffset() } };
}

export function random({ length }: Effects["random"]): Outcome {
  return { content: randomBytes(length) };
}

export function processAlive({ pid }: Effects["process-alive"]): Outcome {
  if (pid < 1 || pid > MAX_PID) {
    return { alive: false };
  }
  try {
    process.kill(pid, 0);
    return { alive: true };
  } catch (error) {
    // Somebody else's process may not be signalled, and runs.
    return { alive: errno(error) === "EPERM" };
  }
}

export function hostInfo(): Outcome {
  return { "host-info": { hostId: hostId(), pid: process.pid, platform: WINDOWS ? "windows" : "posix" } };
}

/**
 * Names the machine without telling its name, by the formula that all hosts share
 * (tests/conformance/README.md). On Windows nothing tells machines apart, so every process counts
 * as its own.
 */
function hostId(): string {
  if (WINDOWS) {
    return processId;
  }
  const machine = orEmpty(() => readFileSync("/etc/machine-id", "utf8").trim());
  const pids = orEmpty(() => readlinkSync("/proc/self/ns/pid"));
  const text = ["memdir", machine, hostname(), pids].join("\n");
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

const processId = WINDOWS ? randomBytes(16).toString("hex") : "";

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

export async function sleep({ ms }: Effects["sleep"], stop: AbortSignal): Promise<Outcome> {
  const outcome = await untilTimeout(stop, ms, () => new Promise<never>(() => {}));
  return outcome ?? "done";
}

export async function watch({ path, timeoutMs }: Effects["watch"], stop: AbortSignal): Promise<Outcome> {
  const outcome = await untilTimeout(stop, timeoutMs, (signal) => firstChange(path, signal));
  return outcome ?? { changed: false };
}

/** What `work` gives, or undefined when the time was over first. */
async function untilTimeout(
  stop: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome | undefined> {
  try {
    return await within(stop, ms, work);
  } catch (error) {
    if (error instanceof Failed && error.code === "timeout") {
      return undefined;
    }
    throw error;
  }
}

function firstChange(path: string, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const watcher = watchFolder(path, { recursive: true, signal });
    watcher.on("change", () => {
      watcher.close();
      resolve({ changed: true });
    });
    watcher.on("error", (error) => {
      watcher.close();
      reject(error);
    });
  });
}
