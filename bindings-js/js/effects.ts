// The effects that a flow asks for and the outcomes that answer them, as they cross from and to the
// core (core/src/flow/effect.rs and outcome.rs).

import type { Header, MemdirEvent, Platform } from "./types.js";

export type { Header } from "./types.js";

/** What is written: text (as UTF-8) or bytes. */
export type Content = { text: string } | { bytes: Uint8Array };

/**
 * Everything that a flow can ask for, by kind. Paths are absolute. With `within`, a folder that holds
 * the path, no link below that folder is followed; the way to `within` itself may hold links.
 */
export interface Effects {
  list: { path: string; within: string | null };
  read: { path: string; within: string | null; offset: number; length: number };
  "read-many": { paths: string[]; within: string | null; length: number };
  stat: { path: string };
  lstat: { path: string };
  "read-link": { path: string };
  "real-path": { path: string };
  write: {
    path: string;
    within: string | null;
    content: Content;
    via: string | null;
    mode: number;
    sync: boolean;
  };
  append: { path: string; content: Content; mode: number };
  "make-dir": { path: string; within: string | null; mode: number };
  remove: { path: string; within: string | null };
  rename: { from: string; to: string; within: string | null; replace: boolean; sync: boolean };
  link: { from: string; to: string; within: string | null };
  "set-mtime": { path: string; mtimeMs: number };
  "process-alive": { pid: number };
  http: {
    method: string;
    url: string;
    headers: Header[];
    body: Content | null;
    timeoutMs: number;
    maxBytes: number;
  };
  model: { request: string; timeoutMs: number };
  token: { timeoutMs: number };
  approve: { path: string; parent: string; timeoutMs: number };
  run: {
    argv: string[];
    cwd: string;
    env: Header[];
    stdin: Content | null;
    timeoutMs: number;
    maxBytes: number;
  };
  now: object;
  sleep: { ms: number };
  random: { length: number };
  watch: { path: string; timeoutMs: number };
  print: { stream: "stdout" | "stderr"; text: string };
  "read-stdin": { maxBytes: number; line: boolean };
  "open-editor": { argv: string[] };
  "host-info": object;
  emit: { event: MemdirEvent };
}

/** One effect. */
export type Effect = { [K in keyof Effects]: { kind: K } & Effects[K] }[keyof Effects];

/** One effect with the number that its answer carries. */
export interface Request {
  id: number;
  effect: Effect;
}

/** The closed list of failures that hosts tell apart. */
export type FailureCode =
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
  | "aborted"
  | "other";

/** Why an effect failed. */
export interface Failure {
  code: FailureCode;
  message: string;
}

/** About one path. */
export interface Stat {
  kind: "file" | "directory" | "link" | "other";
  size: number;
  /** Rounded down. */
  mtimeMs: number;
  /** Nanoseconds within that millisecond. */
  mtimeNs: number;
  ctimeMs: number | null;
  inode: number | null;
  /** Permission bits. */
  mode: number | null;
}

/** The entries of a folder as they cross to the core, in at least one part; see pack.ts. */
export interface Listing {
  parts: { names: string; numbers: Float64Array }[];
  incomplete: boolean;
}

/** What `read-many` read, as it crosses to the core: the contents one behind the other, and for each
 * file its bytes among them, or -1 for one that failed, whose failures stand in their order. */
export interface Heads {
  contents: Uint8Array;
  lengths: Int32Array;
  failures: Failure[];
}

/** How an effect went. */
export type Outcome =
  | "done"
  | { listing: Listing }
  | { content: Uint8Array }
  | { heads: Heads }
  | { stat: Stat }
  | { text: string }
  | { alive: boolean }
  | { http: { status: number; headers: Header[]; body: Uint8Array } }
  | { ran: { exitCode: number | null; stdout: Uint8Array; stderr: Uint8Array } }
  | { now: { ms: number; offsetMinutes: number } }
  | { changed: boolean }
  | { approved: boolean }
  | { "host-info": { hostId: string; pid: number | null; platform: Platform } }
  | { failed: Failure };

/** The answer to one request. */
export interface Response {
  id: number;
  outcome: Outcome;
}

/** What a flow wants next, or what it ended with. */
export type Step<T> = { effects: Request[] } | { done: T };

/** The bytes that reach the file or the wire. */
export function bytesOf(content: Content): Uint8Array {
  return "text" in content ? Buffer.from(content.text) : content.bytes;
}
