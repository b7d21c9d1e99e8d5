// Temporary folders for tests, removed at the end of the test that asked for them; and what tests
// expect of errors.

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { MemdirError } from "memdir";

/** A new folder, with every link in its path resolved. */
export function folder(t) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "memdir-test-")));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A new folder with these memories, by name. */
export function store(t, memories = {}) {
  const path = folder(t);
  for (const [name, text] of Object.entries(memories)) {
    writeFileSync(join(path, name), text);
  }
  return path;
}

/** The text of a small memory. */
export function memory(name, description = `about ${name}`) {
  return `---\nname: ${name}\ndescription: ${description}\ntype: project\n---\n\nBody of ${name}.\n`;
}

/** Accepts an error of memdir with this code, for `assert.rejects` and `assert.throws`. */
export function code(expected) {
  return (error) => {
    assert.ok(error instanceof MemdirError, String(error));
    assert.equal(error.code, expected, error.message);
    return true;
  };
}
