// Hands outcomes to a flow. The two that can be large cross in a compact form, for which the other
// side is src/packed.rs.

import type { Entry, Failure, Head, Outcome, Stat } from "./effects.js";

/** What a flow takes. */
export interface Answerable {
  answer(id: number, outcome: Outcome): void;
  answerListing(id: number, names: string, numbers: Float64Array, incomplete: boolean): void;
  answerHeads(id: number, contents: Uint8Array, lengths: Int32Array, failures: Failure[]): void;
}

/** Entries of a listing that takes milliseconds to hand over. */
const LARGE = 1000;
const COLUMNS = 8;
const KINDS = { file: 0, directory: 1, link: 2, other: 3 } satisfies Record<Stat["kind"], number>;
const NO_STAT = -1;

/** Whether handing it over takes milliseconds. */
export function isLarge(outcome: Outcome): boolean {
  return typeof outcome === "object" && "listing" in outcome && outcome.listing.entries.length > LARGE;
}

export function answer(flow: Answerable, id: number, outcome: Outcome): void {
  if (typeof outcome === "object" && "listing" in outcome) {
    const { entries, incomplete } = outcome.listing;
    const names = entries.map(({ name }) => name).join("\0");
    flow.answerListing(id, names, numbersOf(entries), incomplete);
  } else if (typeof outcome === "object" && "heads" in outcome) {
    answerHeads(flow, id, outcome.heads);
  } else {
    flow.answer(id, outcome);
  }
}

function numbersOf(entries: Entry[]): Float64Array {
  const numbers = new Float64Array(entries.length * COLUMNS);
  let at = 0;
  for (const { invalidName, stat } of entries) {
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
    at += COLUMNS;
  }
  return numbers;
}

function answerHeads(flow: Answerable, id: number, heads: Head[]): void {
  const contents: Uint8Array[] = [];
  const failures: Failure[] = [];
  const lengths = new Int32Array(heads.length);
  heads.forEach((head, index) => {
    if ("content" in head) {
      contents.push(head.content);
      lengths[index] = head.content.length;
    } else {
      failures.push(head.failed);
      lengths[index] = -1;
    }
  });
  flow.answerHeads(id, joined(contents), lengths, failures);
}

/** All pieces in one; without copying when they already stand one behind the other. */
function joined(pieces: Uint8Array[]): Uint8Array {
  const [first] = pieces;
  let end = first?.byteOffset ?? 0;
  for (const piece of pieces) {
    if (piece.buffer !== first?.buffer || piece.byteOffset !== end) {
      return Buffer.concat(pieces);
    }
    end += piece.length;
  }
  return first === undefined ? new Uint8Array() : new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset);
}
