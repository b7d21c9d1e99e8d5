// Dreaming over real folders, with a function as the model. When it is time and what a run may do is the core's,
// which has tests of its own.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { code, folder, memory, store } from "./support/folders.mjs";
import { call, gate, opened as openedWith, turn, until } from "./support/models.mjs";

const INDEX = "- [a](a.md) — about a\n- [b](b.md) — about b\n";
const LINE = "- [c](c.md) — about c\n";
const MERGED = memory("a", "about a and b");

/** A store of two memories, with a model that gives these answers. */
async function opened(t, answers, options = {}) {
  const directory = store(t, { "a.md": memory("a"), "b.md": memory("b"), "MEMORY.md": INDEX });
  const features = { dream: true };
  const opened = await openedWith(answers, { directory, cwd: directory, features, ...options });
  const at = (name) => join(directory, name);
  return { ...opened, directory, at };
}

/** What a model does that makes one memory of two, and adds another one. */
function merging(at) {
  const read = (name) => call("Read", { file_path: at(name) }, `read-${name}`);
  const write = (name, content) => call("Write", { file_path: at(name), content }, `write-${name}`);
  return [
    turn(read("MEMORY.md"), read("a.md"), read("b.md")),
    turn(
      write("a.md", MERGED),
      call("Delete", { file_path: at("b.md") }),
      write("c.md", memory("c")),
      call("Edit", { file_path: at("MEMORY.md"), old_string: "about a\n", new_string: `about a and b\n${LINE}` }),
    ),
    "Made one of two.",
  ];
}

/** The bytes of all memories and indexes, by name. */
function texts(directory) {
  const names = readdirSync(directory).filter((name) => name.endsWith(".md"));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

test("a dream puts the memory in order, and is taken back to the byte", async (t) => {
  const answers = [];
  const { memdir, asked, events, directory, at } = await opened(t, answers);
  const before = texts(directory);
  answers.push(...merging(at));
  const { id, ...dream } = await memdir.dream({ force: true });
  assert.deepEqual(dream, {
    outcome: "done",
    reason: null,
    improved: ["a.md", "c.md"],
    removed: ["b.md"],
    conflicts: [],
    notice: "Improved 3 memories",
    changes: [],
    sessions: 0,
    turns: 3,
    ended: "answered",
    usage: { input: 0, output: 0, cached: 0, written: 0 },
    code: null,
    message: null,
    report: [],
  });
  assert.equal(typeof id, "string");
  assert.ok(asked.every(({ purpose }) => purpose === "dream"));
  const after = {
    "MEMORY.md": `- [a](a.md) — about a and b\n${LINE}`,
    "a.md": MERGED,
    "c.md": memory("c"),
  };
  assert.deepEqual(texts(directory), after);
  assert.equal(events.find(({ kind, message }) => kind === "dream" && message === dream.notice)?.message, dream.notice);

  const { restored, ...undone } = await memdir.undoDream();
  assert.deepEqual(undone, { id, conflicts: [] });
  assert.deepEqual(restored.toSorted(), ["MEMORY.md", "a.md", "b.md", "c.md"]);
  assert.deepEqual(texts(directory), before);
  assert.deepEqual(await memdir.undoDream(), { id: null, restored: [], conflicts: [] });
  await memdir.close();
});

test("what a person has changed since stays", async (t) => {
  const answers = [];
  const { memdir, directory, at } = await opened(t, answers);
  answers.push(...merging(at));
  await memdir.dream({ force: true });
  writeFileSync(at("a.md"), memory("mine"));
  const { restored, conflicts } = await memdir.undoDream();
  assert.deepEqual([conflicts, restored.includes("b.md")], [["a.md"], true]);
  assert.equal(texts(directory)["a.md"], memory("mine"));
});

test("a dry run shows what would be changed", async (t) => {
  const answers = [];
  const { memdir, directory, at } = await opened(t, answers);
  const before = texts(directory);
  answers.push(...merging(at));
  const dream = await memdir.dream({ force: true, dryRun: true });
  assert.deepEqual([dream.outcome, dream.id, dream.improved, dream.notice], ["done", null, [], null]);
  const kinds = dream.changes.map(({ path, kind }) => [path, kind]);
  assert.deepEqual(kinds, [["MEMORY.md", "changed"], ["a.md", "changed"], ["b.md", "deleted"], ["c.md", "created"]]);
  assert.ok(dream.changes.every(({ diff }) => diff.includes("@@")));
  assert.deepEqual(texts(directory), before);
  assert.ok(!readdirSync(directory).includes(".consolidate-lock"));
  assert.equal((await memdir.undoDream()).id, null);
});

test("it waits for a day and five sessions, without the current one", async (t) => {
  const home = folder(t);
  const cwd = folder(t);
  const open = () => openedWith([], { home, cwd, features: { dream: true } });
  const { memdir, asked } = await open();
  const project = dirname(memdir.directory);
  mkdirSync(project, { recursive: true });
  const session = (number) => writeFileSync(join(project, `session-${number}.jsonl`), "");
  [1, 2, 3, 4, 5].forEach(session);
  assert.equal((await memdir.dream({ session: "session-1" })).reason, "few-sessions");
  session(6);
  assert.equal((await memdir.dream({ session: "session-1" })).reason, "counted");
  const { memdir: later, asked: askedLater } = await open();
  const dream = await later.dream({ session: "session-1" });
  assert.deepEqual([dream.outcome, dream.sessions, askedLater.length], ["done", 5, 1]);
  const prompt = askedLater[0].messages[0].content[0].text;
  assert.ok(prompt.includes("session-6.jsonl") && !prompt.includes("session-1.jsonl"));
  assert.equal((await later.dream()).reason, "too-soon");
  assert.equal(asked.length, 0);
});

test("options decide, and without a model there is an error", async (t) => {
  const { memdir, asked } = await opened(t, []);
  assert.equal((await memdir.dream({ remote: true })).reason, "remote");
  const { memdir: off } = await opened(t, [], { features: {} });
  assert.equal((await off.dream()).reason, "off");
  const disabled = { env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } };
  const { memdir: none } = await opened(t, [], disabled);
  assert.equal((await none.dream({ force: true })).reason, "disabled");
  const { memdir: daily } = await opened(t, [], { features: { dailyLog: true } });
  assert.equal((await daily.dream({ force: true })).reason, "daily-log");
  assert.equal((await daily.dream({ force: true, logs: true })).outcome, "done");
  const { memdir: without } = await opened(t, [], { model: null });
  await assert.rejects(without.dream({ force: true }), code("no-model"));
  assert.equal((await memdir.dream({ force: true, session: null, readRoots: [folder(t)] })).outcome, "done");
  assert.equal(asked.length, 1);
});

test("what is no option", async (t) => {
  const { memdir, asked } = await opened(t, []);
  const bad = [
    "force",
    null,
    { force: 1 },
    { dryRun: "yes" },
    { logs: 0 },
    { remote: null },
    { session: 5 },
    { readRoots: "/" },
    { readRoots: [5] },
    { force: true, readRoots: ["relative"] },
    { signal: {} },
    { unknown: 1 },
  ];
  for (const options of bad) {
    await assert.rejects(memdir.dream(options), code("invalid-argument"), JSON.stringify(options));
  }
  await assert.rejects(memdir.dream({ session: "\ud800" }), code("invalid-text"));
  await assert.rejects(memdir.undoDream({ unknown: 1 }), code("invalid-argument"));
  await assert.rejects(memdir.undoDream({ signal: AbortSignal.abort() }), code("aborted"));
  assert.equal(asked.length, 0);
});

test("a model that fails changes nothing, and delays nobody", async (t) => {
  const answers = [];
  const { memdir, directory, at } = await opened(t, answers);
  const before = texts(directory);
  answers.push(...merging(at).slice(0, 2), () => Promise.reject(new Error("no quota left")));
  const { outcome, message, id } = await memdir.dream({ force: true });
  assert.deepEqual([outcome, id], ["failed", null]);
  assert.match(message, /no quota left/);
  assert.deepEqual(texts(directory), before);
  assert.equal((await memdir.dream()).reason, "few-sessions", "and not too-soon, nor counted");
});

test("cancelled in the middle of a model call: nothing is changed, and the next one runs", async (t) => {
  const answers = [];
  const { memdir, directory, at } = await opened(t, answers);
  const before = texts(directory);
  const controller = new AbortController();
  const reason = new Error("enough");
  const stopped = gate();
  answers.push(...merging(at).slice(0, 2), (signal) => {
    signal.addEventListener("abort", stopped.open);
    controller.abort(reason);
    return new Promise(() => {});
  });
  await assert.rejects(memdir.dream({ force: true, signal: controller.signal }), (error) => {
    assert.equal(error.cause, reason);
    return code("aborted")(error);
  });
  await stopped.promise;
  assert.deepEqual(texts(directory), before);
  await assert.rejects(memdir.dream({ force: true, signal: AbortSignal.abort() }), code("aborted"));
  answers.push(...merging(at));
  assert.equal((await memdir.dream({ force: true })).notice, "Improved 3 memories");
  await memdir.close();
});

test("only one at a time", async (t) => {
  const { promise, open } = gate();
  const { memdir, asked } = await opened(t, [() => promise]);
  const first = memdir.dream({ force: true });
  await until(() => asked.length === 1);
  assert.equal((await memdir.dream({ force: true })).reason, "locked");
  open("Nothing more.");
  assert.equal((await first).outcome, "done");
});

test("close waits for a dream that is under way; drain may stop it", async (t) => {
  const { promise, open } = gate();
  const answers = [];
  const { memdir, asked, directory, at } = await opened(t, answers);
  const [read, write, end] = merging(at);
  answers.push(read, () => promise.then(() => write), end);
  const running = memdir.dream({ force: true });
  await until(() => asked.length === 2);
  let closed = false;
  const closing = memdir.close().then(() => {
    closed = true;
  });
  await setTimeout(50);
  assert.equal(closed, false);
  await assert.rejects(memdir.dream({ force: true }), code("closed"));
  await assert.rejects(memdir.dream(), code("closed"));
  await assert.rejects(memdir.undoDream(), code("closed"));
  open();
  await closing;
  assert.equal(texts(directory)["a.md"], MERGED);
  assert.equal((await running).notice, "Improved 3 memories");

  const late = gate();
  const { memdir: other, asked: askedLater, directory: there, at: thereAt } = await opened(t, answers);
  const before = texts(there);
  answers.push(merging(thereAt)[0], () => late.promise);
  const stopped = other.dream({ force: true });
  await until(() => askedLater.length === 2);
  assert.equal(await other.drain({ timeoutMs: 20 }), false);
  late.open(merging(thereAt)[1]);
  const { outcome, code: why, ended } = await stopped;
  assert.deepEqual([outcome, why, ended], ["failed", "aborted", "stopped"]);
  assert.deepEqual(texts(there), before);
});
