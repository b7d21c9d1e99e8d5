// `memdir/rules`: the rules that can be used without opening a store. All of them are synchronous
// and touch neither files nor network. What they throw is a `MemdirError`: `invalid-text` for text
// with half of a surrogate pair, `invalid-argument` for anything of the wrong type, and what each
// says beside these.

import * as check from "./check.js";
import { call, core, type Core } from "./core.js";
import type { ErrorInfo, Frontmatter, MemoryHeader, Platform, Truncation } from "./types.js";

export type * from "./types.js";

/**
 * Cuts an index (`MEMORY.md`) to what a prompt takes: 200 lines, then 25,000 UTF-8 bytes at a line
 * end; a single longer line is cut between characters. Both flags are judged on the whole trimmed
 * text (facts 3).
 */
export function truncateIndex(text: string): Truncation {
  const whole = check.text(text, "text");
  return rule((core) => core.truncateIndex(whole));
}

/**
 * Reads the block at the head of a memory, or of its first bytes. Never fails on content: what is
 * broken is left out and named in `problems` (facts 4.1 to 4.3).
 */
export function parseFrontmatter(text: string): Frontmatter {
  const whole = check.text(text, "text");
  return rule((core) => core.parseFrontmatter(whole));
}

/**
 * The list of memories as a model reads it, in the given order: one line each, joined by LF, with
 * nothing in a memory that could pose as another line (facts 4.5).
 */
export function formatManifest(memories: readonly MemoryHeader[]): string {
  const headers = check.list<MemoryHeader>(memories, "memories");
  return rule((core) => core.formatManifest(headers));
}

/**
 * The name of a project's folder, from its absolute path (facts 1.1). Distinct paths can share one.
 */
export function projectSlug(path: string): string {
  const whole = check.text(path, "path");
  return rule((core) => core.projectSlug(whole));
}

/**
 * A memory directory in its canonical form: absolute, normalised, NFC, with one trailing separator
 * (facts 1.5). `home` lets a leading `~/` stand for it. Throws one of the `path-…` codes for a
 * directory that is not accepted.
 */
export function validateMemoryPath(path: string, options: { platform: Platform; home?: string | null | undefined }): string {
  const whole = check.text(path, "path");
  const given = check.options(options, "options", ["platform", "home"]);
  const platform = check.text(given["platform"], "platform");
  const home = given["home"] === undefined || given["home"] === null ? null : check.text(given["home"], "home");
  return rule((core) => core.validateMemoryPath(whole, platform, home));
}

/**
 * The local entries (key to content) that the server does not have yet: those whose checksum
 * (`sha256:` and lower-case hex) is not the server's, or that it lacks (facts 11.4). Keys come in
 * byte order.
 */
export function teamDelta(local: Record<string, string>, server: Record<string, string>): Record<string, string> {
  const mine = check.entries(local, "local");
  const theirs = check.entries(server, "server");
  return Object.fromEntries(rule((core) => core.teamDelta(mine, theirs)) as Map<string, string>);
}

/**
 * Splits entries into batches of at most `maxBytes` UTF-8 bytes of compact JSON each, the envelope
 * counted (unless it is given, the limit of one upload, facts 11.3 and 11.4). An entry that alone is
 * larger stands alone.
 */
export function batchEntries(
  entries: Record<string, string>,
  options?: { maxBytes?: number | null | undefined },
): Record<string, string>[] {
  const all = check.entries(entries, "entries");
  const maxBytes = check.optionalCount(check.options(options, "options", ["maxBytes"])["maxBytes"], "maxBytes");
  const batches = rule((core) => core.batchEntries(all, maxBytes)) as Map<string, string>[];
  return batches.map((batch) => Object.fromEntries(batch));
}

/** Every error code with its family and an example, in a fixed order. */
export function errorTable(): ErrorInfo[] {
  return rule((core) => core.errorTable());
}

function rule<T>(work: (core: Core) => T): T {
  const instance = core();
  return call(instance, () => work(instance));
}
