// The effects that change names and no content.

import { closeSync, fsync, linkSync, openSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

import { keptBeneath } from "./beneath.js";
import type { Effects, Outcome } from "./effects.js";
import { errno, Failed, failure, isADirectory } from "./failure.js";
import { tryLstat } from "./files.js";
import { settled, type WaitingTask } from "./turns.js";

/** Where giving a link a second name gives its target one, which Node cannot forbid. */
const FOLLOWS = process.platform !== "linux" && process.platform !== "win32";

export function* remove({ path, within }: Effects["remove"]): WaitingTask<Outcome> {
  return yield* keptBeneath(within, [path], function* (folders) {
    removeAt(folders.file(path));
  });
}

function removeAt(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // Linux calls it a folder, others say that the operation is not permitted.
    const maybeFolder = ["EISDIR", "EPERM", "EACCES"].includes(errno(error));
    if (!maybeFolder || tryLstat(path)?.kind === "file") {
      throw error;
    }
    rmdirSync(path);
  }
}

export function* rename({ from, to, within, replace, sync }: Effects["rename"]): WaitingTask<Outcome> {
  return yield* keptBeneath(within, [from, to], function* (folders) {
    const old = folders.file(from);
    const target = folders.file(to);
    (replace ? renameSync : renameToNew)(old, target);
    if (sync) {
      yield* syncFolder(dirname(target));
    }
  });
}

/**
 * A second name is refused where there is one, which a rename is not. Whatever takes the first name
 * before that is removed goes with it.
 */
function renameToNew(from: string, to: string): void {
  try {
    addName(from, to);
  } catch (error) {
    if (!hasNoLinks(error) && failure(error).code !== "permission") {
      throw error;
    }
    // A folder, or a file system without links: what comes between the look and the rename is replaced.
    if (tryLstat(to) !== null) {
      throw new Failed("exists", "File exists");
    }
    renameSync(from, to);
    return;
  }
  try {
    unlinkSync(from);
  } catch (error) {
    // Who has removed the first name did so after the second was there: that is the rename done.
    if (errno(error) !== "ENOENT") {
      tryUnlink(to);
      throw error;
    }
  }
}

export function* link({ from, to, within }: Effects["link"]): WaitingTask<Outcome> {
  return yield* keptBeneath(within, [from, to], function* (folders) {
    const file = folders.file(from);
    // Systems refuse it in several words, and some do not refuse it.
    if (tryLstat(file)?.kind === "directory") {
      throw isADirectory();
    }
    try {
      addName(file, folders.file(to));
    } catch (error) {
      throw hasNoLinks(error) ? new Failed("unsupported", failure(error).message) : error;
    }
  });
}

function addName(from: string, to: string): void {
  if (FOLLOWS && tryLstat(from)?.kind === "link") {
    throw new Failed("unsupported", "a link cannot have a second name here");
  }
  linkSync(from, to);
}

/** Whether files have one name only; on Windows Node takes "no such function" for a folder. */
function hasNoLinks(error: unknown): boolean {
  return ["EPERM", "EISDIR"].includes(errno(error)) || failure(error).code === "unsupported";
}

/** Makes a new name itself last. Not every system can, and the content is safe. */
export function* syncFolder(path: string): WaitingTask<void> {
  try {
    const folder = openSync(path, "r");
    try {
      yield* syncFile(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // As said.
  }
}

/** Waits, in Node's thread pool, until it is on disk. */
export function syncFile(file: number): WaitingTask<void> {
  return settled(promisify(fsync)(file));
}

/** Best effort. */
export function tryUnlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The failure before this one is the one to tell.
  }
}
