// The effect that writes a whole file. Only waiting for the disk, which can take longer than the event
// loop may be held, goes through Node's thread pool.

import { closeSync, fchmodSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

import { keptBeneath } from "./beneath.js";
import { bytesOf, type Effects, type Outcome } from "./effects.js";
import { syncFile, syncFolder, tryUnlink } from "./names.js";
import { ownAsFolder } from "./owner.js";
import type { WaitingTask } from "./turns.js";

/** Bytes that are written before anything else may have its turn. */
const CHUNK = 1 << 20;

/** A new file, or through the temporary file `via` a whole replacement. */
export function* write({ path, within, content, via, mode, sync }: Effects["write"]): WaitingTask<Outcome> {
  return yield* keptBeneath(within, [path], function* (folders) {
    const target = folders.file(path);
    const created = via === null ? target : folders.file(via);
    const file = openSync(created, "wx", mode);
    ownAsFolder(created);
    try {
      yield* fill(file, bytesOf(content), mode, sync);
      if (via !== null) {
        renameSync(created, target);
      }
    } catch (error) {
      // It was made here, so it is ours to remove.
      tryUnlink(created);
      throw error;
    }
    if (sync && via !== null) {
      yield* syncFolder(dirname(target));
    }
  });
}

/** Closes the file, so that it can be renamed or removed. */
function* fill(file: number, bytes: Uint8Array, mode: number, sync: boolean): WaitingTask<void> {
  try {
    setMode(file, mode);
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(file, bytes, written, Math.min(CHUNK, bytes.length - written));
      yield;
    }
    if (sync) {
      yield* syncFile(file);
    }
  } finally {
    closeSync(file);
  }
}

/** The umask may have taken bits away. A file system that refuses modes is no reason to fail. */
function setMode(file: number, mode: number): void {
  try {
    fchmodSync(file, mode);
  } catch {
    // As said.
  }
}
