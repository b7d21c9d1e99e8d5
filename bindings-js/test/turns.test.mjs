// How file work shares the event loop.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { perform } from "./support/flows.mjs";
import { folder } from "./support/folders.mjs";

const require = createRequire(import.meta.url);
const { inTurns, settled } = require("../dist/turns.js");

test("a task that waits holds up no other, and goes on when it is its turn", async () => {
  const seen = [];
  let resolve;
  const promise = new Promise((give) => (resolve = give));
  function* waits() {
    seen.push("asks");
    yield* settled(promise);
    seen.push("has it");
    return 1;
  }
  function* works() {
    yield;
    seen.push("works");
  }
  const waiting = inTurns(waits());
  await inTurns(works());
  assert.deepEqual(seen, ["asks", "works"]);
  resolve();
  assert.equal(await waiting, 1);
  assert.deepEqual(seen, ["asks", "works", "has it"]);
});

test("what a task waited for in vain can be caught in it", async () => {
  const gone = new Error("gone");
  function* task(caught) {
    try {
      yield* settled(Promise.reject(gone));
    } catch (error) {
      caught.push(error);
      throw error;
    }
  }
  const caught = [];
  await assert.rejects(inTurns(task(caught)), gone);
  assert.deepEqual(caught, [gone]);
});

test("many writes leave everything else its turn, and no file open", async (t) => {
  const root = folder(t);
  const write = (sync, index) => ({
    kind: "write",
    path: join(root, `${sync}`, `${index}.md`),
    within: root,
    content: { text: "x" },
    via: join(root, `${sync}`, `${index}.memdir-tmp`),
    mode: 0o600,
    sync,
  });
  for (const [sync, count] of [
    [false, 2000],
    [true, 20],
  ]) {
    mkdirSync(join(root, `${sync}`));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const outcomes = await perform(Array.from({ length: count }, (_, index) => write(sync, index)));
    clearInterval(timer);
    assert.deepEqual(new Set(outcomes), new Set(["done"]));
    assert.equal(readdirSync(join(root, `${sync}`)).length, count);
    assert.ok(sync || turns > 1, `${turns} turns`);
  }
  if (process.platform === "linux") {
    const open = readdirSync("/proc/self/fd").length;
    assert.ok(open < 50, `${open} open files`);
  }
});
