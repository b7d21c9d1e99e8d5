// The one error class. Codes and their families are the core's; the few errors that arise in
// JavaScript itself, before the core is asked or after it broke, are made here too.

import type { ErrorCode, ErrorFamily } from "./types.js";

/** What the core says of an error. */
export interface ErrorDetail {
  /** What programs decide by. */
  code: ErrorCode;
  /** One line: the thing, the rule and the remedy. */
  message: string;
  /** The file or folder that it is about, if it is about one. */
  path: string | null;
  /** The group of the code. */
  family: ErrorFamily;
}

/**
 * Why an operation failed. Decide by `code`, never by `message`: the codes are stable, and
 * `errorTable()` of `memdir/rules` lists all of them.
 */
export class MemdirError extends Error {
  /** What programs decide by. */
  readonly code: ErrorCode;
  /** The file or folder that it is about, else null. */
  readonly path: string | null;
  /** The group of the code. */
  readonly family: ErrorFamily;

  /** Made by memdir itself. */
  constructor(detail: ErrorDetail, options?: ErrorOptions) {
    super(detail.message, options);
    this.code = detail.code;
    this.path = detail.path;
    this.family = detail.family;
  }

  static {
    Object.defineProperty(this.prototype, "name", { value: "MemdirError", configurable: true, writable: true });
  }
}

/**
 * Whether something that was caught is an error of memdir, also one of another copy of the package.
 */
export function isMemdirError(error: unknown): error is MemdirError {
  return error instanceof MemdirError || (error instanceof Error && error.name === "MemdirError" && "code" in error);
}

/** The core broke: its state is not to be trusted any more. */
export function internal(cause: unknown): MemdirError {
  const message = "memdir failed inside and cannot go on with this store; open it again, and please report this";
  return new MemdirError({ code: "internal", message, path: null, family: "engine" }, { cause });
}

/** An operation that was cancelled where the core did not see it. */
export function aborted(cause: unknown): MemdirError {
  const message = "the operation was cancelled before it was done";
  return new MemdirError({ code: "aborted", message, path: null, family: "engine" }, { cause });
}

/** An argument that the caller has to change. */
export function invalidArgument(message: string): MemdirError {
  return new MemdirError({ code: "invalid-argument", message, path: null, family: "input" });
}

/** Text with half of a surrogate pair, which UTF-8 cannot hold. */
export function invalidText(name: string, position: number): MemdirError {
  const message = `${name} holds half of a surrogate pair at position ${position}; pass well-formed text`;
  return new MemdirError({ code: "invalid-text", message, path: null, family: "input" });
}
