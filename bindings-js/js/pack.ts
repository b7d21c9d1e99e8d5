// Hands outcomes to a flow, and takes what a scan found. What can be large crosses in a compact form,
// for which the other side is src/packed.rs.

import type { Failure, Outcome, Stat } from "./effects.js";
import type { Task } from "./turns.js";
import type { MemoryHeader, MemoryType, ReportEntry, Scan } from "./types.js";

/** What a flow takes. */
export interface Answerable {
  answer(id: number, outcome: Outcome): void;
  /** With the number of the last listing: more of it. */
  answerListing(id: number, names: string, numbers: Float64Array, incomplete: boolean): void;
  answerHeads(id: number, contents: Uint8Array, lengths: Int32Array, failures: Failure[]): void;
}

const COLUMNS = 8;
/** Entries that are handed over at a time, in less than a millisecond. */
export const PART = 512;
const KINDS = { file: 0, directory: 1, link: 2, other: 3 } satisfies Record<Stat["kind"], number>;
const NO_STAT = -1;

/** Hands over an outcome, in pieces if it is large. */
export function* answer(flow: Answerable, id: number, outcome: Outcome): Task<void> {
  if (typeof outcome === "object" && "listing" in outcome) {
    const { parts, incomplete } = outcome.listing;
    for (const { names, numbers } of parts) {
      flow.answerListing(id, names, numbers, incomplete);
      yield;
    }
  } else if (typeof outcome === "object" && "heads" in outcome) {
    const { contents, lengths, failures } = outcome.heads;
    flow.answerHeads(id, contents, lengths, failures);
  } else {
    flow.answer(id, outcome);
  }
}

/** Room for the numbers of a part of a listing, whose names are joined by NUL. */
export function rowsFor(entries: number): Float64Array {
  return new Float64Array(entries * COLUMNS);
}

/** Packs one entry of a listing; `stat` is null when it went away meanwhile. */
export function packEntry(numbers: Float64Array, row: number, invalidName: boolean, stat: Stat | null): void {
  const at = row * COLUMNS;
  numbers[at] = stat === null ? NO_STAT : KINDS[stat.kind];
  numbers[at + 1] = Number(invalidName);
  if (stat !== null) {
    numbers[at + 2] = stat.size;
    numbers[at + 3] = stat.mtimeMs;
    numbers[at + 4] = stat.mtimeNs;
    numbers[at + 5] = stat.ctimeMs ?? Number.NaN;
    numbers[at + 6] = stat.inode ?? Number.NaN;
    numbers[at + 7] = stat.mode ?? Number.NaN;
  }
}

/** What a scan found, as it comes from the core. */
export interface PackedScan {
  texts: string;
  numbers: Uint8Array;
  report: ReportEntry[];
}

const TYPES: readonly MemoryType[] = ["user", "feedback", "project", "reference"];
const HEADER_COLUMNS = 9;

export function unpackScan({ texts, numbers, report }: PackedScan): Scan {
  const columns = new Float64Array(numbers.buffer, numbers.byteOffset, numbers.byteLength / 8);
  const memories: MemoryHeader[] = [];
  let end = 0;
  // A length that is not a number is that of no text.
  const text = (length: number) => (length >= 0 ? texts.slice(end, (end += length)) : null);
  for (let at = 0; at < columns.length; at += HEADER_COLUMNS) {
    const [path = 0, name = 0, description = 0, type = 0, team, pinned, modifiedMs = 0, mtimeMs = 0, size = 0] =
      columns.subarray(at, at + HEADER_COLUMNS);
    memories.push({
      path: text(path) ?? "",
      name: text(name),
      description: text(description),
      type: TYPES[type] ?? null,
      scope: team === 1 ? "team" : "private",
      pinned: pinned === 1,
      modifiedMs: Number.isNaN(modifiedMs) ? null : modifiedMs,
      mtimeMs,
      size,
    });
  }
  return { memories, report };
}
