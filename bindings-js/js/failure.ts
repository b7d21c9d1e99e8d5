// Which stable code an error of Node or of the operating system becomes, and in which words: those
// of the system, so that a report reads the same in every host.

import type { Failure, FailureCode } from "./effects.js";

/** Fails an effect for a reason that the system did not give. */
export class Failed extends Error {
  constructor(
    readonly code: FailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** What every host says of something that exists and is not opened. */
export function noRegularFile(): Failed {
  return new Failed("unsupported", "it is no regular file and was not opened");
}

/** A folder where a file was wanted, in the words of the system. */
export function isADirectory(): Failed {
  return new Failed("is-a-directory", "Is a directory");
}

/** What every host says of an answer that is not UTF-8. */
export function notUtf8(): Failed {
  return new Failed("invalid-name", "a name is not UTF-8");
}

const BY_ERRNO: Record<string, [FailureCode, string]> = {
  EACCES: ["permission", "Permission denied"],
  EBUSY: ["busy", "Device or resource busy"],
  EDQUOT: ["no-space", "Disk quota exceeded"],
  EEXIST: ["exists", "File exists"],
  EFBIG: ["too-large", "File too large"],
  EILSEQ: ["invalid-name", "Invalid or incomplete multibyte or wide character"],
  EINVAL: ["other", "Invalid argument"],
  EIO: ["other", "Input/output error"],
  EISDIR: ["is-a-directory", "Is a directory"],
  ELOOP: ["loop", "Too many levels of symbolic links"],
  EMFILE: ["too-many-open", "Too many open files"],
  EMLINK: ["unsupported", "Too many links"],
  ENAMETOOLONG: ["name-too-long", "File name too long"],
  ENFILE: ["too-many-open", "Too many open files in system"],
  ENODEV: ["unsupported", "No such device"],
  ENOENT: ["not-found", "No such file or directory"],
  ENOSPC: ["no-space", "No space left on device"],
  ENOTDIR: ["not-a-directory", "Not a directory"],
  ENOTEMPTY: ["not-empty", "Directory not empty"],
  ENOSYS: ["unsupported", "Function not implemented"],
  ENOTSUP: ["unsupported", "Operation not supported"],
  ENXIO: ["unsupported", "No such device or address"],
  EPERM: ["permission", "Operation not permitted"],
  EPIPE: ["other", "Broken pipe"],
  EROFS: ["read-only", "Read-only file system"],
  ETIMEDOUT: ["timeout", "Connection timed out"],
  ETXTBSY: ["busy", "Text file busy"],
  EXDEV: ["cross-device", "Invalid cross-device link"],
  // Node refuses a NUL in a path or an argument before it asks the system.
  ERR_INVALID_ARG_VALUE: ["invalid-name", "file name contained an unexpected NUL byte"],
};

/** The failure that an error stands for, whatever was thrown. */
export function failure(error: unknown): Failure {
  try {
    return described(error);
  } catch {
    // A proxy, or something with a getter: what throws when it is looked at.
    return { code: "other", message: "something was thrown that cannot be shown" };
  }
}

function described(error: unknown): Failure {
  if (error instanceof Failed) {
    return { code: error.code, message: error.message };
  }
  const name = errno(error);
  const [code, message] = (Object.hasOwn(BY_ERRNO, name) && BY_ERRNO[name]) || ["other", plain(error)];
  return { code, message };
}

/** The name of a system error, or an empty text. */
export function errno(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** The message of an error; of a system error without its name, call and path. */
function plain(error: unknown): string {
  const message = String(error instanceof Error ? error.message : error);
  return message.replace(/^E[A-Z0-9]+: /, "").replace(/, [a-z]+( '.*')?$/s, "").toWellFormed();
}
