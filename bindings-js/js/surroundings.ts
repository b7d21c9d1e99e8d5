// What a store is told about the process that opens it, where its user says nothing else. Which of it
// counts is decided by the core.
//
// Node puts U+FFFD for bytes that are not UTF-8. Such a text stands for something else than it says,
// so it counts as not there.

import { homedir } from "node:os";

/** The working directory; null when it has been removed. */
export function workingDirectory(): string | null {
  return told(() => process.cwd());
}

/** The user's home directory; null when there is none. */
export function homeDirectory(): string | null {
  return told(homedir);
}

/** The environment, without the variables that are no text. */
export function environment(): Record<string, string> {
  const known: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && isText(name) && isText(value)) {
      known[name] = value;
    }
  }
  return known;
}

function told(ask: () => string): string | null {
  try {
    const answer = ask();
    return isText(answer) ? answer : null;
  } catch {
    return null;
  }
}

function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes("\ufffd");
}
