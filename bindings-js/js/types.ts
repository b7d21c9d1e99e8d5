// What goes in and what comes out, as the core declares it. Times are whole milliseconds since the
// epoch, sizes are UTF-8 bytes, paths inside a store are relative and written with `/`, and what is
// absent is null. "facts" in the comments is the collection of public facts about the format.

/** The four types of memory; anything else counts as no type (facts 4.2). */
export type MemoryType = "user" | "feedback" | "project" | "reference";

/** Who sees a memory, by its place: below `team/` or not (facts 11.1). */
export type Scope = "private" | "team";

/** Whose path rules hold. */
export type Platform = "posix" | "windows";

/** One memory as a scan lists it, without its body (facts 4.4). */
export interface MemoryHeader {
  /** Relative to the store, with `/`. */
  path: string;
  /** From the frontmatter. */
  name: string | null;
  /** From the frontmatter. */
  description: string | null;
  /** From the frontmatter, when it is one of the four. */
  type: MemoryType | null;
  /** By the place of the file. */
  scope: Scope;
  /** From the frontmatter. */
  pinned: boolean;
  /** The frontmatter's `modified`, in milliseconds since the epoch. */
  modifiedMs: number | null;
  /** The file's modification time, in milliseconds since the epoch. */
  mtimeMs: number;
  /** The file's size in bytes. */
  size: number;
}

/** What kind of thing a report says about a file. */
export type ReportCode =
  | "over-limit"
  | "unlistable"
  | "listing-incomplete"
  | "too-deep"
  | "invalid-name"
  | "unreadable"
  | "vanished"
  | "not-a-file"
  | "link-outside"
  | "link-dangling"
  | "link-loop"
  | "link-to-folder"
  | "not-utf8"
  | "nul-byte"
  | "empty"
  | "large"
  | "frontmatter-unclosed"
  | "frontmatter-repaired"
  | "frontmatter-invalid"
  | "frontmatter-not-a-map"
  | "second-frontmatter"
  | "unknown-type"
  | "bad-modified"
  | "value-cut"
  | "value-ignored";

/** One thing that was skipped, cut or repaired. */
export interface ReportEntry {
  /** Relative to the store, with `/`; empty for the store itself. */
  path: string;
  /** What kind of thing. */
  code: ReportCode;
  /** One line: what, and what to do. */
  message: string;
}

/** What a scan found (facts 4.4). */
export interface Scan {
  /** Newest first by modification time, at equal times by path; at most 200. */
  memories: MemoryHeader[];
  /** Every file that is not as it should be, by path. */
  report: ReportEntry[];
}

/** One memory with its text. */
export interface MemoryFile {
  /** What a scan says of it. */
  header: MemoryHeader;
  /** The whole text as it stands in the file, frontmatter included. */
  content: string;
}

/** What opening a store found. */
export interface Opened {
  /** The memory folder: absolute, normalised, with one trailing separator. */
  directory: string;
  /** Whether memory is on. When it is off, nothing is read, written or created. */
  enabled: boolean;
}

/** The index as far as it fits into a prompt (facts 3). */
export interface Truncation {
  /** A prefix of the trimmed text, at most 200 lines and 25,000 UTF-8 bytes. */
  content: string;
  /** One line that says what was exceeded; null when nothing was. */
  warning: string | null;
  /** Lines of the trimmed text, 0 when it is empty. */
  lines: number;
  /** UTF-8 bytes of the trimmed text. */
  bytes: number;
  /** Whether the trimmed text has more lines than the limit. */
  linesCut: boolean;
  /** Whether the trimmed text has more bytes than the limit. */
  bytesCut: boolean;
  /** The entries that are not wholly in `content`: their link targets, else their text. */
  lost: string[];
}

/** One thing that is wrong with a frontmatter block. */
export interface Problem {
  /** What kind of thing. */
  code: ReportCode;
  /** Line of the file, counted from 1, when it is about one. */
  line: number | null;
  /** One line: what, and what to do. */
  message: string;
}

/** What the block at the head of a memory says (facts 4.1 to 4.3). */
export interface Frontmatter {
  /** Whether the text begins with a closed block. */
  found: boolean;
  /** Trimmed; null when missing, empty or no text. */
  name: string | null;
  /** Trimmed; null when missing, empty or no text. */
  description: string | null;
  /** `type`, else `metadata.type`, when it is exactly one of the four. */
  type: MemoryType | null;
  /** `modified`, else `metadata.modified`, as written. */
  modified: string | null;
  /** The same in milliseconds since the epoch, when it is an ISO 8601 date-time. */
  modifiedMs: number | null;
  /** `pinned`, else `metadata.pinned`, when it is YAML's true. */
  pinned: boolean;
  /** Where the body begins, in UTF-8 bytes of the text. */
  body: number;
  /** What was cut, repaired or given up. */
  problems: Problem[];
}

/** Why an operation failed; stable. `errorTable()` has an example of each. */
export type ErrorCode =
  | "aborted"
  | "protocol"
  | "internal"
  | "invalid-text"
  | "invalid-argument"
  | "usage"
  | "not-text"
  | "path-empty"
  | "path-nul"
  | "path-home"
  | "path-home-parent"
  | "path-outside-home"
  | "path-unc"
  | "path-drive-root"
  | "path-relative"
  | "path-root"
  | "path-too-short"
  | "path-outside-store"
  | "link-outside"
  | "not-found"
  | "exists"
  | "permission"
  | "read-only"
  | "no-space"
  | "not-a-directory"
  | "is-a-directory"
  | "not-empty"
  | "loop"
  | "name-too-long"
  | "invalid-name"
  | "too-large"
  | "too-many-open"
  | "cross-device"
  | "busy"
  | "unsupported"
  | "timeout"
  | "network"
  | "other";

/**
 * Which group a code belongs to: `engine` is how the operation was driven (cancelled, a defect),
 * `input` what the caller passed in, `path` a path that a rule refuses, `host` what the operating
 * system or the network answered.
 */
export type ErrorFamily = "engine" | "input" | "path" | "host";

/** One row of `errorTable()`. */
export interface ErrorInfo {
  /** The code. */
  code: ErrorCode;
  /** Its group. */
  family: ErrorFamily;
  /** A typical message. */
  example: string;
}

/** Something worth knowing that happened while an operation ran. */
export interface MemdirEvent {
  /** What kind of event; today only `warning`. */
  kind: string;
  /** Relative to the store, when it is about one file. */
  path: string | null;
  /** A {@link ReportCode} when it is about something cut or skipped. */
  code: string | null;
  /** One line in plain words. */
  message: string;
}

/**
 * Your own model: takes the request as JSON and gives the model's answer as JSON. `signal` is
 * aborted when the operation is cancelled or the model takes too long; what it gives after that is
 * ignored. It may use the store that calls it.
 */
export type ModelFunction = (request: string, options: { signal: AbortSignal }) => string | Promise<string>;

/** Options of every operation. */
export interface CallOptions {
  /**
   * Cancels the operation: requests and waits stop at once, file operations finish, and the promise
   * rejects with the code `aborted` and the signal's reason as `cause`.
   */
  signal?: AbortSignal | undefined;
}

/** How a store is opened. */
export interface OpenOptions extends CallOptions {
  /** The memory folder, absolute. It need not exist. */
  directory: string;
  /** Hears of what happens during operations. What it throws becomes a process warning. */
  onEvent?: ((event: MemdirEvent) => void) | undefined;
  /** Used wherever an operation needs a model; without it no model is ever called. */
  model?: ModelFunction | undefined;
}

/** What a prompt is made of. */
export interface PromptOptions extends CallOptions {
  /** Whether the content of the index is part of it; true unless it is given. */
  index?: boolean | undefined;
}
