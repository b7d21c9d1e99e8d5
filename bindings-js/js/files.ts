// The file effects, as tasks that yield between one file and the next. A file is opened only for
// what it is, never through a link at its last name, and never so that a FIFO could hang it.

import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
  type BigIntStats,
} from "node:fs";
import { dirname, sep } from "node:path";

import { beneath, type Beneath } from "./beneath.js";
import { bytesOf, type Effects, type Failure, type Heads, type Listing, type Outcome, type Stat } from "./effects.js";
import { errno, Failed, failure, isADirectory, noRegularFile, notUtf8 } from "./failure.js";
import { ownAsFolder } from "./owner.js";
import { packEntry, PART, rowsFor } from "./pack.js";
import type { Task } from "./turns.js";

/** Where the system has no such flag, Node has no such constant. */
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const READ = constants.O_RDONLY | CAREFULLY;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | CAREFULLY;
/** Bytes that are read at a time when a file turns out longer than it was. */
const CHUNK = 65_536;
/** Stands for the length of what could not be read. */
const FAILED = -1;
/** Names that the system is asked for at a time. */
const READ_AT_ONCE = 256;
/** Files of a folder that are looked at before anything else may have its turn. */
const BATCH = 16;
const BIGINT = { bigint: true, throwIfNoEntry: true } as const;
const WINDOWS = process.platform === "win32";
const KINDS = new Map<number, Stat["kind"]>([
  [constants.S_IFREG, "file"],
  [constants.S_IFDIR, "directory"],
  [constants.S_IFLNK, "link"],
]);

export function* list({ path, within }: Effects["list"]): Task<Outcome> {
  const folders = beneath(within);
  try {
    const listing = yield* listFolder(folders.folder(path));
    if (folders.again()) {
      folders.folder(path);
    }
    return { listing };
  } finally {
    folders.close();
  }
}

function* listFolder(path: string): Task<Listing> {
  const folder = path.endsWith(sep) ? path : path + sep;
  const parts: Listing["parts"] = [];
  for (const names of yield* readNames(path, "utf8")) {
    const joined = names.join("\0");
    if (isDoubtful(joined)) {
      return yield* listRaw(path, folder);
    }
    const numbers = rowsFor(names.length);
    for (const [row, name] of names.entries()) {
      packEntry(numbers, row, false, tryLstat(folder + name));
      if (row % BATCH === 0) {
        yield;
      }
    }
    parts.push({ names: joined, numbers });
  }
  return { parts, incomplete: false };
}

/** The names in a folder, as many at a time as cross to the core at a time. */
function* readNames<T extends string | Buffer>(path: string, encoding: T extends string ? "utf8" : "buffer"): Task<T[][]> {
  // Node's types know no encoding of names but that of texts.
  const entries = opendirSync(path, { encoding: encoding as BufferEncoding, bufferSize: READ_AT_ONCE });
  try {
    let names: T[] = [];
    const parts = [names];
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      if (names.length === PART) {
        parts.push((names = []));
      }
      names.push(entry.name as T);
      if (names.length % BATCH === 0) {
        yield;
      }
    }
    return parts;
  } finally {
    entries.closeSync();
  }
}

/** Whether a name among them may stand for other bytes than its own. */
function isDoubtful(names: string): boolean {
  return names.includes("\ufffd") || !names.isWellFormed();
}

function* listRaw(path: string, folder: string): Task<Listing> {
  const parts: Listing["parts"] = [];
  for (const names of yield* readNames<Buffer>(path, "buffer")) {
    const numbers = rowsFor(names.length);
    for (const [row, name] of names.entries()) {
      packEntry(numbers, row, !isUtf8(name), tryLstat(Buffer.concat([Buffer.from(folder), name])));
      yield;
    }
    parts.push({ names: names.join("\0"), numbers });
  }
  return { parts, incomplete: false };
}

/** Null when nothing is there. */
export function tryLstat(path: string | Buffer): Stat | null {
  try {
    return statOf(lstatSync(path, BIGINT));
  } catch {
    return null;
  }
}

export function* read({ path, within, offset, length }: Effects["read"]): Task<Outcome> {
  const file = openBeneath(path, within);
  try {
    const { size } = ensureRegular(file);
    const parts: Buffer[] = [];
    let missing = length;
    // One byte beyond the size shows at once that there is no more.
    let chunk = Math.max(Number(size) - offset, 0) + 1;
    while (missing > 0) {
      const buffer = Buffer.allocUnsafe(Math.min(chunk, missing));
      const count = readSync(file, buffer, 0, buffer.length, offset + length - missing);
      if (count === 0) {
        break;
      }
      parts.push(buffer.subarray(0, count));
      missing -= count;
      chunk = CHUNK;
      yield;
    }
    return { content: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
  } finally {
    closeSync(file);
  }
}

function openBeneath(path: string, within: string | null): number {
  const folders = beneath(within);
  try {
    const file = openToRead(folders.file(path));
    try {
      if (folders.again()) {
        folders.file(path);
      }
      return file;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  } finally {
    folders.close();
  }
}

export function* readMany({ paths, within, length }: Effects["read-many"]): Task<Outcome> {
  const folders = beneath(within);
  try {
    const heads = yield* readHeads(paths, length, folders);
    return { heads: folders.again() ? withoutSwapped(heads, paths, folders) : heads };
  } finally {
    folders.close();
  }
}

/** What was read, but for that into whose way a link has come meanwhile. */
export function withoutSwapped(heads: Heads, paths: string[], folders: Beneath): Heads {
  const contents: Uint8Array[] = [];
  const failures: Failure[] = [];
  let end = 0;
  let failed = 0;
  const lengths = heads.lengths.map((length, index) => {
    if (length < 0) {
      failures.push(heads.failures[failed] as Failure);
      failed += 1;
      return length;
    }
    const content = heads.contents.subarray(end, (end += length));
    try {
      folders.file(paths[index] as string);
      contents.push(content);
      return length;
    } catch (error) {
      failures.push(failure(error));
      return FAILED;
    }
  });
  return { contents: Buffer.concat(contents), lengths, failures };
}

function* readHeads(paths: string[], length: number, folders: Beneath): Task<Heads> {
  // One piece of memory for all: many small ones take longer than the reading.
  const buffer = Buffer.allocUnsafe(paths.length * length);
  const lengths = new Int32Array(paths.length);
  const failures: Failure[] = [];
  let end = 0;
  for (const [index, path] of paths.entries()) {
    try {
      const count = readHead(path, buffer, end, length, folders);
      lengths[index] = count;
      end += count;
    } catch (error) {
      lengths[index] = FAILED;
      // A FIFO: one that has no position, or nothing in it yet.
      const isPipe = errno(error) === "ESPIPE" || errno(error) === "EAGAIN";
      failures.push(failure(isPipe ? noRegularFile() : error));
    }
    yield;
  }
  return { contents: buffer.subarray(0, end), lengths, failures };
}

/** One call reads a regular file as far as there is room for it; gives how many bytes it read. */
function readHead(path: string, buffer: Buffer, start: number, length: number, folders: Beneath): number {
  const file = openToRead(folders.file(path));
  try {
    const count = readSync(file, buffer, start, length, 0);
    if (count === 0) {
      // An empty file, or something else.
      ensureRegular(file);
    }
    return count;
  } finally {
    closeSync(file);
  }
}

export function* stat({ path }: Effects["stat"]): Task<Outcome> {
  return { stat: statOf(statSync(path, BIGINT)) };
}

export function* lstat({ path }: Effects["lstat"]): Task<Outcome> {
  return { stat: statOf(lstatSync(path, BIGINT)) };
}

export function* readLink({ path }: Effects["read-link"]): Task<Outcome> {
  return { text: utf8(readlinkSync(path, "buffer")) };
}

export function* realPath({ path }: Effects["real-path"]): Task<Outcome> {
  return { text: utf8(realpathSync.native(path, "buffer")) };
}

export function* append({ path, content, mode }: Effects["append"]): Task<Outcome> {
  const bytes = bytesOf(content);
  const file = open(path, APPEND, mode);
  try {
    ensureRegular(file);
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(file, bytes, written);
    }
    return "done";
  } finally {
    closeSync(file);
  }
}

export function* makeDir({ path, within, mode }: Effects["make-dir"]): Task<Outcome> {
  const folders = beneath(within);
  try {
    if (within === null) {
      yield* makeDirs(path, mode, folders);
    } else {
      // It is not made itself.
      statSync(within);
      yield* makeDirs(path.endsWith(sep) ? path.slice(0, -1) : path, mode, folders);
    }
    if (folders.again()) {
      folders.folder(path);
    }
    return "done";
  } finally {
    folders.close();
  }
}

function* makeDirs(path: string, mode: number, folders: Beneath): Task<void> {
  // Not by Node's own recursion, which never ends where the system says ENOENT of a child whose
  // parent is there (/proc, for one).
  const missing = [path];
  for (;;) {
    const folder = missing.at(-1) as string;
    try {
      const made = folders.file(folder);
      mkdirSync(made, mode);
      ownAsFolder(made);
      missing.pop();
    } catch (error) {
      const parent = dirname(folder);
      if (errno(error) === "ENOENT" && parent !== folder && !isDirectory(parent, folders)) {
        missing.push(parent);
      } else if (isDirectory(folder, folders)) {
        missing.pop();
      } else {
        throw error;
      }
    }
    if (missing.length === 0) {
      return;
    }
    yield;
  }
}

function isDirectory(path: string, folders: Beneath): boolean {
  try {
    return statSync(folders.folder(path)).isDirectory();
  } catch (error) {
    if (error instanceof Failed) {
      throw error;
    }
    return false;
  }
}

export function* setMtime({ path, mtimeMs }: Effects["set-mtime"]): Task<Outcome> {
  // Node takes seconds with a fraction and cuts them to microseconds: half of one keeps the
  // millisecond whole. It takes times before 1970 only as a Date.
  const time = mtimeMs < 0 ? new Date(mtimeMs) : mtimeMs / 1000 + 0.0000005;
  lutimesSync(path, lstatSync(path).atime, time);
  return "done";
}

function openToRead(path: string): number {
  return open(path, READ);
}

function open(path: string, flags: number, mode?: number): number {
  if (WINDOWS) {
    refuseLink(path);
  }
  return openSync(path, flags, mode);
}

/** Where a link cannot be refused by the opening itself. */
function refuseLink(path: string): void {
  if (tryLstat(path)?.kind === "link") {
    throw new Failed("loop", "it is a link, which is not followed");
  }
}

function ensureRegular(file: number): BigIntStats {
  const stats = fstatSync(file, BIGINT);
  if (stats.isDirectory()) {
    throw isADirectory();
  }
  if (!stats.isFile()) {
    throw noRegularFile();
  }
  return stats;
}

function utf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    throw notUtf8();
  }
  return bytes.toString();
}

function statOf(stats: BigIntStats): Stat {
  const mode = Number(stats.mode);
  const inode = Number(stats.ino);
  const mtimeNs = Number(stats.mtimeNs % 1_000_000n);
  // Before 1970 the rest is negative; the time is rounded down all the same.
  const early = mtimeNs < 0;
  return {
    kind: KINDS.get(mode & constants.S_IFMT) ?? "other",
    size: Number(stats.size),
    mtimeMs: Number(stats.mtimeMs) - (early ? 1 : 0),
    mtimeNs: early ? mtimeNs + 1_000_000 : mtimeNs,
    ctimeMs: Number(stats.ctimeMs),
    inode: Number.isSafeInteger(inode) ? inode : null,
    mode: WINDOWS ? null : mode & 0o7777,
  };
}
