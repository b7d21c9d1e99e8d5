// Set-up, placeholders and comparison of tests/conformance; the README there tells the format.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { sep } from "node:path";

const UNIX = process.platform !== "win32";
const NEEDS = {
  links: UNIX,
  fifo: UNIX,
  "raw-names": process.platform === "linux",
  modes: UNIX,
  "not-root": UNIX && process.geteuid() !== 0,
  inodes: true,
  "pre-epoch": true,
  processes: true,
  run: UNIX,
};

/** Whether this machine has all that a step or a set-up needs. */
export function possible({ needs = [] }) {
  return needs.every((need) => {
    if (!(need in NEEDS)) {
      throw new Error(`unknown need ${need}`);
    }
    return NEEDS[need];
  });
}

/** Placeholders and abbreviations written out. */
export function expand(value, root) {
  if (typeof value === "string") {
    return value === "{pid}" ? process.pid : value.replaceAll("{root}", root);
  }
  if (Array.isArray(value)) {
    return value.map((item) => expand(item, root));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value.repeat) && Object.keys(value).length === 1) {
    return expand(value.repeat.map(([text, count]) => text.repeat(count)).join(""), root);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, root)]));
}

/** Does one step of a set-up, without the host. */
export function setUp(action) {
  if ("folder" in action) {
    mkdirSync(action.folder);
  } else if ("rawName" in action) {
    writeFileSync(Buffer.concat([Buffer.from(action.file + sep), Buffer.from(action.rawName)]), action.text);
  } else if ("file" in action) {
    writeFileSync(action.file, action.text);
  } else if ("link" in action) {
    symlinkSync(action.rawTo ? Buffer.from(action.rawTo) : action.to, action.link);
  } else if ("fifo" in action) {
    execFileSync("mkfifo", [action.fifo]);
  } else if ("chmod" in action) {
    chmodSync(action.chmod, action.mode);
  } else if ("rename" in action) {
    renameSync(action.rename, action.to);
  } else if ("mtime" in action) {
    // Half a microsecond more: Node cuts to microseconds.
    utimesSync(action.mtime, 0, action.ms / 1000 + 0.0000005);
  } else {
    throw new Error(`unknown set-up ${JSON.stringify(action)}`);
  }
}

/** Whether an outcome is as expected. */
export function fits(expected, actual) {
  if (typeof expected === "string" && actual instanceof Uint8Array) {
    return Buffer.from(expected).equals(actual);
  }
  if (Array.isArray(expected)) {
    const items = actual instanceof Uint8Array ? [...actual] : actual;
    return (
      Array.isArray(items) && items.length === expected.length && expected.every((one, index) => fits(one, items[index]))
    );
  }
  if (typeof expected !== "object" || expected === null) {
    return Object.is(expected, actual);
  }
  const [[name, argument] = []] = Object.entries(expected);
  if (name?.startsWith("$")) {
    return matches(name, argument, actual);
  }
  return (
    typeof actual === "object" &&
    actual !== null &&
    Object.entries(expected).every(([key, one]) =>
      key === "entries" ? fits(byName(one), byName(actual.entries)) : fits(one, actual[key]),
    )
  );
}

function matches(name, argument, actual) {
  switch (name) {
    case "$length":
      return actual.length === argument;
    case "$between":
      return Number.isInteger(actual) && actual >= argument[0] && actual <= argument[1];
    case "$anyOf":
      return argument.some((one) => fits(one, actual));
    default:
      throw new Error(`unknown matcher ${name}`);
  }
}

function byName(entries) {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
