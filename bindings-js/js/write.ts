// The effect that writes a whole file. It waits for the disk, which can take longer than the event
// loop may be held, so it is the one file effect that goes through Node's thread pool.

import { open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

import { beneath } from "./beneath.js";
import { bytesOf, type Content, type Effects, type Outcome } from "./effects.js";

/** A new file, or through the temporary file `via` a whole replacement. */
export async function write({ path, within, content, via, mode }: Effects["write"]): Promise<Outcome> {
  const folders = beneath(within);
  try {
    const target = folders.file(path);
    await writeFile(target, content, via === null ? null : folders.file(via), mode);
    if (folders.again()) {
      folders.file(path);
    }
    return "done";
  } finally {
    folders.close();
  }
}

async function writeFile(path: string, content: Content, via: string | null, mode: number): Promise<void> {
  const created = via ?? path;
  const file = await open(created, "wx", mode);
  try {
    try {
      // The umask may have taken bits away. A file system that refuses modes is no reason to fail.
      await file.chmod(mode).catch(() => {});
      await file.writeFile(bytesOf(content));
      await file.sync();
    } finally {
      await file.close();
    }
    if (via !== null) {
      await rename(via, path);
    }
  } catch (error) {
    // It was made here, so it is ours to remove; the first failure is the one to tell.
    await unlink(created).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(path)).catch(() => {});
}

/** Makes the new name itself last. Not every system can, and the content is safe. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
