// The notes of a session over real folders, with a function as the model, and what is done after a turn. When it is
// time and what a run may do is the core's, which has tests of its own.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { MemdirError } from "memdir";

import { code, folder, memory } from "./support/folders.mjs";
import { call, gate, opened as openedWith, talk, turn, until } from "./support/models.mjs";

const EMPTY = { lastTokens: null, cursor: null, lastSummarised: null };
const NO_USAGE = { input: 0, output: 0, cached: 0, written: 0 };
const HEADING = "# Worklog\n";

/** The store of a project, with a model that gives these answers. */
async function opened(t, answers, options = {}) {
  const [home, cwd] = [folder(t), folder(t)];
  return { ...(await openedWith(answers, { home, cwd, ...options })), home, cwd };
}

/** A conversation that is long enough, and in which enough tools were called. */
function long(turns = 1) {
  const [user, assistant] = talk();
  const tools = Array.from({ length: turns * 3 }, (_, at) => [
    { id: `c${at}`, role: "assistant", content: [{ type: "tool_use", id: `t${at}`, name: "Bash", input: {} }] },
    { id: `r${at}`, role: "user", content: [{ type: "tool_result", tool_use_id: `t${at}`, content: "ok" }], tokens: 4000 },
  ]);
  return [user, ...tools.flat(), { ...assistant, id: `end${turns}` }];
}

/** An answer that writes a line below the last heading of the notes at `path`. */
function note(path, line = "- split the commit") {
  return () => {
    const text = readFileSync(path, "utf8");
    const below = text.slice(text.indexOf(HEADING));
    return turn(call("Edit", { file_path: path, old_string: below, new_string: `${below}${line}\n` }));
  };
}

test("an update notes what is new, and a compaction uses the notes", async (t) => {
  const answers = [];
  const { memdir, asked, home } = await opened(t, answers);
  const session = memdir.session("5f0c1d2e-77aa");
  const path = await session.path();
  assert.ok(path.startsWith(join(home, ".claude", "projects")), path);
  assert.ok(path.endsWith(join("5f0c1d2e-77aa", "session-memory", "summary.md")), path);
  assert.equal(await session.notes(), null);
  assert.deepEqual(await session.forCompaction(long()), { notes: null, keepFrom: null, reason: "no-notes", tokens: 0 });
  assert.ok(!existsSync(dirname(path)), "nothing is made before the first update");

  answers.push(note(path), "Noted.");
  const result = await session.update(long());
  const { state, ...rest } = result;
  assert.deepEqual(rest, {
    outcome: "done",
    reason: null,
    path,
    changed: true,
    turns: 2,
    ended: "answered",
    usage: NO_USAGE,
    code: null,
    message: null,
    overLimit: [],
    report: [],
  });
  assert.deepEqual([state.cursor, state.lastSummarised], ["end1", "end1"]);
  assert.ok(state.lastTokens >= 12_000, String(state.lastTokens));
  assert.deepEqual(asked.map(({ purpose }) => purpose), ["session-notes", "session-notes"]);
  const notes = await session.notes();
  assert.ok(notes.startsWith("# Session Title\n") && notes.endsWith("- split the commit\n"), notes);
  assert.equal(notes, readFileSync(path, "utf8"));

  const messages = [...long(), ...talk()];
  const compaction = await session.forCompaction(messages);
  assert.equal(compaction.notes, notes);
  assert.equal(compaction.reason, null);
  // Nothing that the notes cover is needed beyond the 10,000 tokens and five messages with text.
  assert.ok(compaction.keepFrom < long().length);
  assert.ok(compaction.tokens > 0);
  assert.equal((await session.forCompaction(messages, { boundary: long().length - 1 })).keepFrom, long().length);
  const gone = await session.forCompaction(talk());
  assert.deepEqual([gone.notes, gone.reason], [null, "unknown-message"]);

  assert.equal((await session.update(long())).reason, "not-due");
  assert.equal((await session.update(long(), { force: true })).reason, "nothing-new");
  assert.equal((await memdir.session("other").update(talk())).reason, "not-due");
  assert.equal(asked.length, 2);
  await memdir.close();
});

test("force, a natural break, a request, and a state", async (t) => {
  const { memdir, asked } = await opened(t, []);
  assert.equal((await memdir.session("a").update(talk(), { force: true })).outcome, "done");
  const talked = talk().map((message) => ({ ...message, tokens: 8000 }));
  assert.equal((await memdir.session("b").update(talked)).reason, "not-due");
  assert.equal((await memdir.session("b").update(talked, { naturalBreak: true })).outcome, "done");
  const tools = [{ name: "Edit", input_schema: { type: "object" } }];
  const request = { system: "s", tools, messages: [{ role: "user", content: "hello" }] };
  for (const given of [request, JSON.stringify(request)]) {
    assert.equal((await memdir.session(typeof given).update(talk(), { force: true, request: given })).outcome, "done");
    assert.deepEqual(asked.at(-1).prefix, request);
  }
  const state = { lastTokens: 5, cursor: "a0", lastSummarised: null };
  const known = await memdir.session("c").update(talk(), { force: true, state });
  assert.deepEqual([known.reason, known.state], ["nothing-new", state]);
  const { memdir: without } = await opened(t, [], { model: null });
  await assert.rejects(without.session("a").update(talk(), { force: true }), code("no-model"));
});

test("a request is not looked at where nothing is to be done", async (t) => {
  const { memdir } = await opened(t, []);
  const loud = { toJSON: () => assert.fail("looked at") };
  assert.equal((await memdir.session("a").update(talk(), { request: loud })).reason, "not-due");
  assert.equal((await memdir.afterTurn(talk(), { session: "a", request: loud })).notes.reason, "not-due");
});

test("where memory is off", async (t) => {
  const { memdir, asked } = await opened(t, [], { env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } });
  const session = memdir.session("a");
  const result = await session.update(long());
  assert.deepEqual([result.outcome, result.reason, result.path], ["skipped", "disabled", null]);
  assert.equal(await session.notes(), null);
  assert.equal((await session.forCompaction(long())).reason, "off");
  await assert.rejects(session.path(), code("disabled"));
  assert.equal(asked.length, 0);
});

test("what is no session, no conversation and no option", async (t) => {
  const { memdir, asked } = await opened(t, []);
  for (const id of [undefined, null, 5, {}]) {
    assert.throws(() => memdir.session(id), code("invalid-argument"));
  }
  assert.throws(() => memdir.session("\ud800"), code("invalid-text"));
  for (const id of ["", ".", "..", "a/b", "a\\b", "a\0", "memory", "x".repeat(129)]) {
    const session = memdir.session(id);
    for (const work of [
      () => session.update(long()),
      () => session.notes(),
      () => session.path(),
      () => session.forCompaction(long()),
      () => memdir.afterTurn(long(), { session: id }),
    ]) {
      await assert.rejects(work(), code("invalid-argument"), JSON.stringify(id));
    }
  }
  const session = memdir.session("a");
  const state = (more) => ({ state: { ...EMPTY, ...more } });
  const bad = [
    [session.update, ["no list"]],
    [session.update, [[null]]],
    [session.update, [[{ role: "system", content: "x" }]]],
    [session.update, [long(), { force: 1 }]],
    [session.update, [long(), { naturalBreak: 1 }]],
    [session.update, [long(), { request: 5n }]],
    [session.update, [long(), { request: "[]" }]],
    [session.update, [long(), state({ lastTokens: -1 })]],
    [session.update, [long(), state({ cursor: 5 })]],
    [session.update, [long(), state({ unknown: 5 })]],
    [session.update, [long(), { signal: {} }]],
    [session.update, [long(), { unknown: 1 }]],
    [session.notes, [{ unknown: 1 }]],
    [session.path, [{ signal: 5 }]],
    [session.forCompaction, ["no list"]],
    [session.forCompaction, [[{}]]],
    [session.forCompaction, [long(), { boundary: -1 }]],
    [session.forCompaction, [long(), { boundary: "1" }]],
    [session.forCompaction, [long(), state({ lastSummarised: 5 })]],
    [session.forCompaction, [long(), { force: true }]],
    [memdir.afterTurn, ["no list"]],
    [memdir.afterTurn, [[{}], { session: "a" }]],
    [memdir.afterTurn, [long(), { agent: "other" }]],
    [memdir.afterTurn, [long(), { interactive: 1 }]],
    [memdir.afterTurn, [long(), { session: 5 }]],
    [memdir.afterTurn, [long(), { readRoots: "/" }]],
    [memdir.afterTurn, [long(), { naturalBreak: "yes" }]],
    [memdir.afterTurn, [long(), { extraction: {} }]],
    [memdir.afterTurn, [long(), { notes: { cursor: 5 } }]],
    [memdir.afterTurn, [long(), { state: null }]],
    [memdir.afterTurn, [long(), { run: () => {} }]],
    [memdir.afterTurn, [long(), { unknown: 1 }]],
  ];
  for (const [work, given] of bad) {
    await assert.rejects(work.apply(memdir, given), code("invalid-argument"), String(given[1] && Object.keys(given[1])));
  }
  assert.equal(asked.length, 0);
  assert.equal((await session.update(long())).outcome, "done");
});

test("without a working directory there are no notes", async (t) => {
  const { memdir } = await openedWith([], { directory: folder(t), cwd: null });
  for (const work of [(session) => session.path(), (session) => session.notes(), (session) => session.update(long())]) {
    await assert.rejects(work(memdir.session("a")), code("invalid-argument"));
  }
});

test("cancelled in the middle of a model call: the next update runs", async (t) => {
  const answers = [];
  const { memdir } = await opened(t, answers);
  const session = memdir.session("a");
  const controller = new AbortController();
  const reason = new Error("enough");
  answers.push(() => {
    controller.abort(reason);
    return new Promise(() => {});
  });
  await assert.rejects(session.update(long(), { signal: controller.signal }), (error) => {
    assert.equal(error.cause, reason);
    return code("aborted")(error);
  });
  const signal = AbortSignal.abort();
  for (const work of [
    () => session.update(long(), { signal }),
    () => session.notes({ signal }),
    () => session.path({ signal }),
    () => session.forCompaction(long(), { signal }),
    () => memdir.afterTurn(long(), { signal }),
  ]) {
    await assert.rejects(work(), code("aborted"));
  }
  answers.push(note(await session.path()));
  assert.deepEqual((await session.update(long())).changed, true);
});

test("one update at a time; a compaction waits for it, and so does close", async (t) => {
  const { promise, open } = gate();
  const answers = [];
  const { memdir, asked } = await opened(t, answers);
  const session = memdir.session("a");
  const path = await session.path();
  answers.push(() => promise.then(note(path)));
  const running = session.update(long());
  await until(() => asked.length === 1);
  assert.equal((await session.update(long(2))).reason, "running");
  const compaction = session.forCompaction(long());
  let closed = false;
  const closing = memdir.close().then(() => {
    closed = true;
  });
  await setTimeout(50);
  assert.equal(closed, false);
  await assert.rejects(session.update(long()), code("closed"));
  open();
  await closing;
  assert.equal((await running).changed, true);
  assert.match((await compaction).notes, /split the commit/);
});

/** A project in which five sessions were held, and a model that gives these answers by purpose. */
async function due(t, answers, options) {
  const opened_ = await opened(t, answers, { features: { extract: true, dream: true }, ...options });
  const { directory } = opened_.memdir;
  mkdirSync(directory, { recursive: true });
  for (let session = 0; session < 5; session += 1) {
    writeFileSync(join(dirname(directory), `session-${session}.jsonl`), "");
  }
  const write = (name) => turn(call("Write", { file_path: join(directory, name), content: memory(name) }));
  return { ...opened_, write };
}

test("after a turn all three are done, each when it is time", async (t) => {
  const answers = {};
  const { memdir, asked, write } = await due(t, answers);
  answers["extract-memories"] = [write("new.md")];
  answers["session-notes"] = [note(await memdir.session("mine").path())];
  answers["dream"] = [write("dreamt.md")];
  const { extraction, notes, dream, ...rest } = await memdir.afterTurn(long(), { session: "mine" });
  assert.deepEqual(rest, {});
  assert.deepEqual([extraction.outcome, extraction.paths, extraction.state.cursor], ["done", ["new.md"], "end1"]);
  assert.deepEqual([notes.outcome, notes.changed, notes.state.cursor], ["done", true, "end1"]);
  assert.deepEqual([dream.outcome, dream.improved, dream.sessions], ["done", ["dreamt.md"], 5]);
  const purposes = asked.map(({ purpose }) => purpose);
  const order = ["extract-memories", "extract-memories", "session-notes", "session-notes", "dream", "dream"];
  assert.deepEqual(purposes, order);

  const again = await memdir.afterTurn(long(), { session: "mine" });
  const reasons = [again.extraction.reason, again.notes.reason, again.dream.reason];
  assert.deepEqual(reasons, ["nothing-new", "not-due", "too-soon"]);
  const sub = await memdir.afterTurn(long(), { session: "mine", agent: "sub" });
  assert.deepEqual([sub.extraction.reason, sub.notes, sub.dream.reason], ["sub-agent", null, "sub-agent"]);
  assert.equal(asked.length, order.length);
  await memdir.close();
});

test("after a turn, with everything off nothing is looked at", async (t) => {
  const hostile = new Proxy({}, { get: () => assert.fail("looked at") });
  const { memdir, asked } = await opened(t, []);
  const { extraction, notes, dream } = await memdir.afterTurn([hostile, hostile]);
  assert.deepEqual([extraction.reason, notes, dream.reason, asked.length], ["off", null, "off", 0]);
});

test("after a turn, what fails is not in the way of the others", async (t) => {
  const answers = {
    "extract-memories": [() => Promise.reject(new Error("no quota left"))],
    "session-notes": [() => Promise.reject(new Error("no quota left"))],
  };
  const { memdir } = await due(t, answers);
  const { extraction, notes, dream } = await memdir.afterTurn(long(), { session: "mine" });
  assert.deepEqual([extraction.outcome, notes.outcome, dream.outcome], ["failed", "failed", "done"]);
  assert.match(extraction.message, /no quota left/);
  assert.match(notes.message, /no quota left/);

  const { memdir: without } = await due(t, {}, { model: null });
  const state = { lastTokens: 5, cursor: "u0", lastSummarised: null };
  const given = { session: "mine", extraction: { cursor: "gone", turns: 0 }, notes: state };
  const result = await without.afterTurn(long(), given);
  const codes = [result.extraction.code, result.notes.code, result.dream.code];
  assert.deepEqual(codes, ["no-model", "no-model", "no-model"]);
  // So that they are not lost when they are kept for the next process.
  assert.deepEqual([result.extraction.state, result.notes.state], [given.extraction, state]);
});

test("after a turn: cancelled, and closed", async (t) => {
  const answers = {};
  const { memdir, asked, write } = await due(t, answers);
  const controller = new AbortController();
  const reason = new Error("enough");
  answers["session-notes"] = [
    () => {
      controller.abort(reason);
      return new Promise(() => {});
    },
  ];
  const options = { session: "mine", signal: controller.signal };
  await assert.rejects(memdir.afterTurn(long(), options), (error) => {
    assert.ok(error instanceof MemdirError);
    assert.equal(error.cause, reason);
    return error.code === "aborted";
  });
  const { promise, open } = gate();
  answers["extract-memories"] = [() => promise.then(() => write("last.md"))];
  asked.length = 0;
  const running = memdir.afterTurn(long(2), { session: "mine" });
  await until(() => asked.length === 1);
  const closing = memdir.close();
  await assert.rejects(memdir.afterTurn(long(3)), code("closed"));
  open();
  await closing;
  const { extraction, notes, dream } = await running;
  assert.deepEqual([extraction.outcome, extraction.paths], ["done", ["last.md"]]);
  assert.ok(existsSync(join(memdir.directory, "last.md")));
  // What has not begun does not begin.
  for (const part of [notes, dream]) {
    assert.deepEqual([part.outcome, part.reason, part.code], ["skipped", "closed", null]);
  }
});
