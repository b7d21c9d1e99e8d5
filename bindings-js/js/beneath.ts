// What lies below a folder and must not leave it: no link below that folder is followed, not even one
// that has just taken the place of a folder. Looking costs something for each folder, not for each file.

import { closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs";
import { join, sep } from "node:path";

import type { Outcome } from "./effects.js";
import { errno, Failed } from "./failure.js";
import type { WaitingTask } from "./turns.js";

/** The folders that lead to the paths of one effect. */
export interface Beneath {
  /** By which path to open or make a file: its last name may be a link, what is above it is none. */
  file(path: string): string;
  /** By which path to list a folder. */
  folder(path: string): string;
  /** Whether the same paths must be asked for again after their use: a link may have come unseen. */
  again(): boolean;
  close(): void;
}

/** Below `within`; without it any path is taken as it is. */
export function beneath(within: string | null): Beneath {
  if (within === null) {
    return ANYWHERE;
  }
  const folder = within.endsWith(sep) ? within : within + sep;
  return OPEN !== null ? new ByDescriptor(folder) : new ByPath(folder);
}

/** Changes something about files below `within`, and looks again for links on the way to them. */
export function* keptBeneath(
  within: string | null,
  files: string[],
  work: (folders: Beneath) => WaitingTask<void>,
): WaitingTask<Outcome> {
  const folders = beneath(within);
  try {
    yield* work(folders);
    if (folders.again()) {
      files.forEach((path) => folders.file(path));
    }
    return "done";
  } finally {
    folders.close();
  }
}

/** Where Linux shows the files that this process has open, whatever their names are by now. */
const OPEN = process.platform === "linux" ? openFiles() : null;
/** Node does not name it: a folder that is only a step on the way need not be readable. */
const O_PATH = 0o10000000;
/** Folders kept open at a time. */
const MANY = 16;
const WINDOWS = process.platform === "win32";

/** By number, which is found faster than `self`; null without /proc. */
function openFiles(): string | null {
  try {
    return `/proc/${readlinkSync("/proc/self")}/fd`;
  } catch {
    return null;
  }
}

const ANYWHERE: Beneath = {
  file: (path) => path,
  folder: (path) => path,
  again: () => false,
  close() {},
};

/** The names from `within`, which ends with a separator, down to `path`. */
function namesTo(path: string, within: string): string[] {
  const names = path.slice(within.length).split(WINDOWS ? /[\\/]/ : "/");
  if (!(path + sep).startsWith(within) || names.includes("..")) {
    throw outside();
  }
  return names.filter((name) => name !== "" && name !== ".");
}

/** Whether it lies in `within` itself, so that no folder on its way could be swapped. */
function isNear(path: string, within: string): boolean {
  if (path.endsWith(`${sep}..`)) {
    throw outside();
  }
  return path.startsWith(within) && path.lastIndexOf(sep) < within.length;
}

function outside(): Failed {
  return new Failed("invalid-name", "it does not lie in the folder that it must not leave");
}

function loop(): Failed {
  return new Failed("loop", "Too many levels of symbolic links");
}

/** Opens each folder in the one above it and goes on from there, whatever has its name by then. */
export class ByDescriptor implements Beneath {
  private readonly open = new Map<string, number>();

  constructor(private readonly within: string) {}

  file(path: string): string {
    if (isNear(path, this.within)) {
      return path;
    }
    const end = path.lastIndexOf(sep);
    return this.folder(path.slice(0, end)) + path.slice(end);
  }

  folder(path: string): string {
    let folder = this.open.get(path);
    if (folder === undefined) {
      const names = namesTo(path, this.within);
      if (names.length === 0) {
        return path;
      }
      if (this.open.size >= MANY) {
        this.close();
      }
      folder = this.descend(names);
      this.open.set(path, folder);
    }
    return `${OPEN}/${folder}`;
  }

  again(): boolean {
    return false;
  }

  close(): void {
    for (const folder of this.open.values()) {
      closeSync(folder);
    }
    this.open.clear();
  }

  private descend([first, ...names]: string[]): number {
    // The way to `within` may hold links.
    let folder = openFolder(this.within + first);
    for (const name of names) {
      const above = folder;
      try {
        folder = openFolder(`${OPEN}/${above}/${name}`);
      } finally {
        closeSync(above);
      }
    }
    return folder;
  }
}

function openFolder(path: string): number {
  try {
    return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    // The system calls a link "no folder" here.
    throw errno(error) === "ENOTDIR" && isLink(path) ? loop() : error;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/**
 * Elsewhere looks whether the folders on the way are links, before and after what is done with them.
 * A link that comes after the first look and goes before the second is not seen.
 */
export class ByPath implements Beneath {
  private readonly seen = new Set<string>();

  constructor(private readonly within: string) {}

  file(path: string): string {
    if (!isNear(path, this.within)) {
      this.look(namesTo(path, this.within).slice(0, -1));
    }
    return path;
  }

  folder(path: string): string {
    this.look(namesTo(path, this.within));
    return path;
  }

  again(): boolean {
    this.seen.clear();
    return true;
  }

  close(): void {}

  private look(names: string[]): void {
    const key = names.join("/");
    if (names.length === 0 || this.seen.has(key)) {
      return;
    }
    this.look(names.slice(0, -1));
    if (isLink(join(this.within, ...names))) {
      throw loop();
    }
    this.seen.add(key);
  }
}
