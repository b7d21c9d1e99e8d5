// Extraction over real folders: by the store's model, by the caller's own agent, and by a provider. When it is
// time and what a run may do is the core's, which has tests of its own.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { code, folder, memory, store } from "./support/folders.mjs";
import { call, gate, opened as openedWith, talk, turn } from "./support/models.mjs";
import { bodyOf, PROVIDERS, serve } from "./support/servers.mjs";

const MEMORY = "---\nname: Small commits\ndescription: commits are small\ntype: feedback\n---\nKeep commits small.\n";
const NO_USAGE = { input: 0, output: 0, cached: 0, written: 0 };

/** A store with extraction, see the other `opened`; and a call that writes a memory there. */
async function opened(t, answers, { directory = store(t, { "tests.md": memory("tests") }), ...options } = {}) {
  const features = { extract: true };
  const opened = await openedWith(answers, { directory, cwd: directory, features, ...options });
  const at = (name) => join(directory, name);
  const write = (name = "commits.md", text = MEMORY) => turn(call("Write", { file_path: at(name), content: text }));
  return { ...opened, directory, at, write };
}

test("a function writes a memory; the next time there is nothing new", async (t) => {
  const answers = [];
  const { memdir, asked, events, at, write } = await opened(t, answers);
  answers.push(write(), "Saved one.");
  const result = await memdir.extract(talk());
  assert.deepEqual(result, {
    outcome: "done",
    reason: null,
    paths: ["commits.md"],
    removed: [],
    notice: "Memory updated in commits.md",
    inbox: [],
    turns: 2,
    ended: "answered",
    usage: NO_USAGE,
    code: null,
    message: null,
    state: { cursor: "a0", turns: 0 },
    report: [],
  });
  assert.equal(readFileSync(at("commits.md"), "utf8"), MEMORY);
  const [first, second] = asked;
  assert.deepEqual(Object.keys(first), ["purpose", "system", "prefix", "tools", "messages", "maxTokens"]);
  assert.deepEqual([first.purpose, first.prefix], ["extract-memories", null]);
  assert.deepEqual(
    first.tools.map(({ name, inputSchema }) => [name, inputSchema.type]),
    ["Read", "Grep", "Glob", "Bash", "Edit", "Write", "Delete"].map((name) => [name, "object"]),
  );
  const [{ role, content }, ...others] = first.messages;
  assert.deepEqual([role, others], ["user", []]);
  for (const part of ["please always write small commits, number 0", "I will.", "tests.md"]) {
    assert.ok(content[0].text.includes(part), part);
  }
  assert.deepEqual(second.messages[0], first.messages[0]);
  assert.equal(second.messages[2].content[0].tool_use_id, "Write-1");
  const told = events.filter(({ kind }) => kind === "extract-memories").map(({ message }) => message);
  assert.equal(told.at(-1), "Memory updated in commits.md");

  const again = await memdir.extract(talk());
  assert.deepEqual([again.outcome, again.reason, again.state], ["skipped", "nothing-new", { cursor: "a0", turns: 0 }]);
  assert.equal(asked.length, 2);
  await memdir.close();
});

test("an answer that uses tools may cost tokens, which are counted", async (t) => {
  const usage = { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 };
  const answer = JSON.stringify({ role: "assistant", content: [call("Glob", { pattern: "*.md" })], usage });
  const { memdir } = await opened(t, [answer, JSON.stringify({ content: [{ type: "text", text: "Nothing." }], usage })]);
  const result = await memdir.extract(talk());
  assert.deepEqual(result.usage, { input: 20, output: 6, cached: 200, written: 14 });
});

test("only messages that are looked at are converted", async (t) => {
  const answers = [];
  const { memdir, write } = await opened(t, answers, { features: { extract: true, extractEvery: 5 } });
  answers.push(write());
  let looked = 0;
  const messages = talk(50).map((message) => ({ ...message, toJSON: () => (looked++, message) }));
  const state = { cursor: "a47", turns: 0 };
  const first = await memdir.extract(messages, { state });
  assert.deepEqual([first.reason, first.state], ["throttled", { cursor: "a47", turns: 1 }]);
  assert.equal(looked, 4, "those of the two new turns");
  for (let turns = 2; turns < 5; turns += 1) {
    assert.equal((await memdir.extract(messages)).state.turns, turns);
  }
  const last = await memdir.extract(messages);
  assert.deepEqual([last.outcome, last.state], ["done", { cursor: "a49", turns: 0 }]);
  assert.equal(looked, 20);
});

test("with the feature off nothing is looked at, and nothing is read", async (t) => {
  const hostile = new Proxy({}, { get: () => assert.fail("looked at") });
  for (const features of [undefined, { extract: false }]) {
    const { memdir, asked } = await opened(t, [], { features });
    const result = await memdir.extract([hostile, hostile]);
    assert.deepEqual([result.outcome, result.reason, asked.length], ["skipped", "off", 0]);
  }
});

test("options decide, and without a model there is an error", async (t) => {
  const { memdir } = await opened(t, []);
  for (const [options, reason] of [
    [{ agent: "sub" }, "sub-agent"],
    [{ interactive: false }, "not-interactive"],
    [{ remote: true }, "remote"],
  ]) {
    assert.equal((await memdir.extract(talk(), options)).reason, reason);
  }
  assert.equal((await memdir.extract(talk().slice(0, 1))).reason, "not-final");
  assert.equal((await memdir.extract([])).reason, "nothing-new");
  const { memdir: without } = await opened(t, [], { model: null });
  for (let times = 0; times < 2; times += 1) {
    await assert.rejects(without.extract(talk()), code("no-model"));
  }
});

test("what is no conversation, and what is no option", async (t) => {
  const { memdir, asked } = await opened(t, []);
  const loud = () => {
    throw new TypeError("looked at");
  };
  const cyclic = { role: "user", content: [] };
  cyclic.content.push(cyclic);
  let deep = "x";
  for (let depth = 0; depth < 10_000; depth += 1) {
    deep = [deep];
  }
  const [user, assistant] = talk();
  const bad = [
    ["no list"],
    [{ length: 1, 0: assistant }],
    [[null]],
    [[undefined]],
    [[5]],
    [[() => {}]],
    [[{}]],
    [[{ role: "user" }]],
    [[{ role: "system", content: "x" }]],
    [[{ role: "assistant", content: 5 }]],
    [[{ role: "assistant", content: [{ type: "text" }] }]],
    [[{ role: "assistant", content: [{ type: "tool_use", id: "x" }] }]],
    [[{ ...assistant, id: 5 }]],
    [[{ ...assistant, content: 5n }]],
    [[{ ...assistant, toJSON: loud }]],
    [[Object.defineProperty({ role: "assistant" }, "content", { get: loud, enumerable: true })]],
    [[Object.defineProperty({ ...assistant }, "id", { get: loud, enumerable: true })]],
    [[new Proxy({}, { get: loud, ownKeys: loud })]],
    [[cyclic]],
    [[{ ...assistant, content: [{ type: "tool_use", id: "x", name: "y", input: deep }] }]],
    [[{}, assistant]],
    [talk(), { agent: "other" }],
    [talk(), { interactive: 1 }],
    [talk(), { session: 5 }],
    [talk(), { state: {} }],
    [talk(), { state: { cursor: 5, turns: 0 } }],
    [talk(), { state: { cursor: null, turns: -1 } }],
    [talk(), { request: 5n }],
    [talk(), { request: () => {} }],
    [talk(), { request: {} }],
    [talk(), { request: "[]" }],
    [talk(), { request: { messages: {} } }],
    [talk(), { readRoots: "/" }],
    [talk(), { readRoots: ["relative"] }],
    [talk(), { review: "yes" }],
    [talk(), { run: {} }],
    [talk(), { signal: {} }],
    [talk(), { unknown: 1 }],
  ];
  for (const [messages, options] of bad) {
    await assert.rejects(memdir.extract(messages, options), code("invalid-argument"));
  }
  await assert.rejects(memdir.extract([user, { role: "assistant", content: "\ud800" }]), code("invalid-text"));
  await assert.rejects(memdir.extract(talk(), { session: "\ud800" }), code("invalid-text"));
  assert.equal(asked.length, 0);
  // Nothing of all that is in the way of what comes then; what a message says of itself does no harm.
  const sdk = { id: "msg_1", type: "message", model: "m", stop_reason: "end_turn", stop_sequence: null, usage: {} };
  const thinking = { type: "thinking", thinking: "hm", signature: "x" };
  const said = { ...sdk, role: "assistant", content: [thinking, { type: "text", text: "I will.", citations: null }] };
  assert.equal((await memdir.extract([user, said])).outcome, "done");
});

test("messages that only JSON text would show otherwise", async (t) => {
  const { memdir, asked } = await opened(t, []);
  const written = [{ type: "text", text: 'please keep "quotes", \\ud800 and 日本語 👩‍👩‍👧 as they are\u2028' }];
  const messages = [{ id: "u", role: "user", content: written }, { id: "a", role: "assistant", content: "" }];
  assert.equal((await memdir.extract(messages)).outcome, "done");
  assert.ok(asked[0].messages[0].content[0].text.includes(written[0].text.trim()));
});

test("two at once: the second is queued, and done behind the first", async (t) => {
  const { promise, open } = gate();
  const answers = [];
  const { memdir, asked, write } = await opened(t, answers);
  answers.push(async () => (await promise, write("first.md")), "Done.", write("second.md"), "Done.");
  const first = memdir.extract(talk());
  const second = await memdir.extract(talk(2));
  assert.equal(second.outcome, "queued");
  // Another conversation does not wait for it.
  const other = await memdir.extract(talk(), { session: "other", agent: "sub" });
  assert.equal(other.reason, "sub-agent");
  open();
  const result = await first;
  assert.deepEqual([result.outcome, result.paths], ["done", ["first.md", "second.md"]]);
  assert.deepEqual([result.turns, result.state.cursor], [4, "a1"]);
  const [before, , after] = asked.map(({ messages }) => messages[0].content[0].text);
  assert.ok(before.includes("number 0") && !before.includes("number 1"));
  assert.ok(after.includes("number 1") && !after.includes("number 0"), "the trailing run is shown what is new");
  assert.equal((await memdir.extract(talk(2))).reason, "nothing-new");
});

test("drain waits, or gives up", async (t) => {
  const { promise, open } = gate();
  const answers = [];
  const { memdir, write } = await opened(t, answers);
  assert.equal(await memdir.drain(), true, "nothing is under way");
  answers.push(async () => (await promise, write()));
  const running = memdir.extract(talk());
  const drained = memdir.drain();
  await setTimeout(50);
  open();
  assert.equal(await drained, true);
  assert.deepEqual((await running).paths, ["commits.md"]);

  const late = gate();
  answers.push(async () => (await late.promise, write("late.md")), write("later.md"));
  const stopped = memdir.extract(talk(2));
  assert.equal(await memdir.drain({ timeoutMs: 20 }), false);
  late.open();
  const { outcome, code: why, paths, ended } = await stopped;
  assert.deepEqual([outcome, why, paths, ended], ["failed", "aborted", [], "stopped"]);
  for (const timeoutMs of [-1, 1.5, "1", NaN]) {
    await assert.rejects(memdir.drain({ timeoutMs }), code("invalid-argument"));
  }
});

test("close waits for an extraction that is under way, and for what is queued behind it", async (t) => {
  const { promise, open } = gate();
  const answers = [];
  const { memdir, at, write } = await opened(t, answers);
  answers.push(async () => (await promise, write("first.md")), "Done.", write("second.md"), "Done.");
  const running = memdir.extract(talk());
  assert.equal((await memdir.extract(talk(2))).outcome, "queued");
  let closed = false;
  const closing = memdir.close().then(() => {
    closed = true;
  });
  await setTimeout(50);
  assert.equal(closed, false);
  await assert.rejects(memdir.extract(talk(3)), code("closed"));
  open();
  await closing;
  assert.ok(existsSync(at("first.md")) && existsSync(at("second.md")));
  assert.deepEqual((await running).paths, ["first.md", "second.md"]);
});

test("cancelled in the middle of a model call: the next one runs", async (t) => {
  const answers = [];
  const { memdir, write } = await opened(t, answers);
  const controller = new AbortController();
  const reason = new Error("enough");
  const stopped = gate();
  answers.push((signal) => {
    signal.addEventListener("abort", stopped.open);
    controller.abort(reason);
    return new Promise(() => {});
  });
  await assert.rejects(memdir.extract(talk(), { signal: controller.signal }), (error) => {
    assert.equal(error.cause, reason);
    return code("aborted")(error);
  });
  await stopped.promise;
  await assert.rejects(memdir.extract(talk(), { signal: AbortSignal.abort() }), code("aborted"));
  answers.push(write());
  const next = await memdir.extract(talk());
  assert.deepEqual([next.outcome, next.paths], ["done", ["commits.md"]]);
  await memdir.close();
});

test("a model that fails, or answers nonsense", async (t) => {
  const answers = [];
  const { memdir, asked } = await opened(t, answers);
  const cases = [
    [() => Promise.reject(new Error("no quota left")), /no quota left/],
    [() => undefined, /well-formed text/],
    [() => ({ content: [] }), /well-formed text/],
  ];
  for (const [answer, why] of cases) {
    answers.push(answer);
    const { outcome, message, state } = await memdir.extract(talk());
    assert.deepEqual([outcome, state.cursor], ["failed", null]);
    assert.match(message, why);
  }
  for (const answer of ["", "{}", "[1]", '{"content": 5}', turn(), turn({ type: "thinking", thinking: "" }), "\u0000"]) {
    answers.push(answer);
    assert.equal((await memdir.extract(talk(), { session: answer })).outcome, "done", answer);
  }
  asked.length = 0;
  answers.push(turn(call("Nothing", {}), { type: "tool_use", id: 5 }, call("Write", "x"), call("Write", { file_path: 5 })));
  assert.equal((await memdir.extract(talk(), { session: "calls" })).outcome, "done");
  const results = asked[1].messages[2].content;
  assert.ok(results.length >= 3 && results.every(({ is_error }) => is_error === true));
});

test("with run: your own agent gets the task, and its calls are answered", async (t) => {
  const { memdir, asked, at } = await opened(t, [], { model: null });
  const { signal } = new AbortController();
  let seen;
  const result = await memdir.extract(talk(), {
    signal,
    run: async (task) => {
      seen = task;
      const denied = await task.call("Write", { file_path: "/etc/passwd", content: "x" });
      assert.equal(denied.isError, true);
      const broken = await task.call("Write", "{");
      assert.equal(broken.isError, true);
      const listed = await task.call("Glob", { pattern: "*.md" });
      assert.deepEqual(listed, { content: `${at("tests.md")}\n`, isError: false });
      const written = await task.call("Write", JSON.stringify({ file_path: at("commits.md"), content: MEMORY }));
      assert.equal(written.isError, false, written.content);
      await assert.rejects(task.call(5, {}), code("invalid-argument"));
      await assert.rejects(task.call("Read", undefined), code("invalid-argument"));
      await assert.rejects(task.call("Read", 5n), code("invalid-argument"));
      return { turns: 3, usage: { input: 1, output: 2, cached: 3, written: 4 } };
    },
  });
  const { run, system, prompt, tools, maxTurns, maxTokens, call: answer, signal: passed, ...rest } = seen;
  assert.deepEqual(rest, {});
  assert.equal(passed, signal);
  assert.ok(Number.isInteger(run) && system.length > 0 && prompt.includes("number 0"));
  assert.equal(tools.find(({ name }) => name === "Write").inputSchema.properties.content.type, "string");
  assert.equal(maxTurns, 5);
  assert.ok(maxTokens > 0);
  assert.deepEqual([result.outcome, result.paths, result.turns, result.ended], ["done", ["commits.md"], 3, "answered"]);
  assert.deepEqual(result.usage, { input: 1, output: 2, cached: 3, written: 4 });
  assert.equal(readFileSync(at("commits.md"), "utf8"), MEMORY);
  assert.equal(asked.length, 0);
  await assert.rejects(answer("Glob", { pattern: "*" }), code("not-found"), "the run is over");
  const again = await memdir.extract(talk(), { run: () => assert.fail("there is nothing to be done") });
  assert.equal(again.reason, "nothing-new");
});

test("with run and a request: no system prompt of ours is needed, and no tools are added", async (t) => {
  const { memdir } = await opened(t, [], { model: null });
  const tools = [{ name: "Write", input_schema: { type: "object" } }];
  const request = { system: "s", tools, messages: [{ role: "user", content: "hello" }] };
  for (const given of [request, JSON.stringify(request)]) {
    let task;
    const run = (given) => void (task = given);
    const { outcome } = await memdir.extract(talk(), { request: given, run, session: typeof given });
    assert.equal(outcome, "done");
    assert.deepEqual(task.tools, []);
    assert.ok(!task.prompt.includes("number 0"), "the fork knows what was said");
  }
});

test("with run: whatever the function does, the next one runs", async (t) => {
  const { memdir, at } = await opened(t, [], { model: null });
  const loud = () => {
    throw new TypeError("looked at");
  };
  const failing = [
    [() => { throw new Error("no quota left"); }, /no quota left/],
    [async () => { throw new Error("no quota left"); }, /no quota left/],
    [() => { throw new Error(""); }, /without a message/],
    [() => Promise.reject(), /undefined/],
    [() => Promise.reject(new Proxy({}, { get: loud, has: loud, getPrototypeOf: loud })), /cannot be shown/],
    [() => ({ error: "it was too much" }), /it was too much/],
    [() => "done", /must be an object/],
    [() => ({ turns: -1 }), /turns/],
    [() => ({ usage: { input: "x" } }), /usage\.input/],
    [() => ({ unknown: 1 }), /unknown/],
    [({ call }) => call("Glob", 5n), /JSON/],
  ];
  for (const [run, why] of failing) {
    const { outcome, message, code: kind, state } = await memdir.extract(talk(), { run });
    assert.deepEqual([outcome, state.cursor], ["failed", null], String(run));
    assert.match(message, why);
    assert.ok(kind !== null);
  }
  const done = await memdir.extract(talk(), { run: ({ call }) => void call("Glob", { pattern: "*" }).catch(() => {}) });
  assert.equal(done.outcome, "done");
  assert.deepEqual(readdirSync(at("")).filter((name) => name.endsWith(".md")), ["tests.md"]);
});

test("with run: cancelled, also when the function does not listen", async (t) => {
  const { memdir } = await opened(t, [], { model: null });
  const reason = new Error("enough");
  const controller = new AbortController();
  let late;
  const run = ({ call, signal }) => {
    late = call;
    assert.equal(signal, controller.signal);
    setImmediate(() => controller.abort(reason));
    return new Promise(() => {});
  };
  const cancelled = memdir.extract(talk(), { run, signal: controller.signal });
  await assert.rejects(cancelled, (error) => error.cause === reason && code("aborted")(error));
  await assert.rejects(late("Glob", { pattern: "*" }), (error) => ["aborted", "not-found"].includes(error.code));
  assert.equal((await memdir.extract(talk(), { run: () => {} })).outcome, "done");
});

test("with run: queued messages are another task of the same call; close waits", async (t) => {
  const { promise, open } = gate();
  const { memdir, at } = await opened(t, [], { model: null });
  const prompts = [];
  const run = async ({ prompt, call }) => {
    prompts.push(prompt);
    await promise;
    await call("Write", { file_path: at(`memory${prompts.length}.md`), content: MEMORY });
  };
  const first = memdir.extract(talk(), { run });
  while (prompts.length === 0) {
    await setTimeout(1);
  }
  assert.equal((await memdir.extract(talk(2), { run: () => assert.fail("it is queued") })).outcome, "queued");
  const closing = memdir.close();
  await setTimeout(20);
  open();
  await closing;
  const { outcome, paths, state } = await first;
  assert.deepEqual([outcome, paths, state.cursor], ["done", ["memory1.md", "memory2.md"], "a1"]);
  assert.ok(prompts[1].includes("number 1") && !prompts[1].includes("number 0"));
});

test("reviewed: changes wait in the inbox until they are applied or dropped", async (t) => {
  const answers = [];
  const { memdir, at, write } = await opened(t, answers);
  const names = ["one.md", "two.md", "three.md"];
  const three = names.map((name) => call("Write", { file_path: at(name), content: MEMORY }, name));
  answers.push(turn(...three), "Done.", write("four.md"), "Done.");
  const result = await memdir.extract(talk(), { review: true });
  assert.equal(result.inbox.length, 1);
  assert.ok(names.every((name) => !existsSync(at(name))));
  const second = await memdir.extract(talk(2), { review: true });

  const { items, report } = await memdir.inbox.list();
  assert.deepEqual([items.map(({ id }) => id), report], [[...result.inbox, ...second.inbox], []]);
  const [{ id, purpose, atMs, changes }] = items;
  assert.equal(purpose, "extract");
  assert.ok(Math.abs(atMs - Date.now()) < 60_000);
  const created = (path) => ({ path, kind: "created", added: 6, removed: 0, isStale: false });
  assert.deepEqual(changes.map(({ diff, ...change }) => change), ["one.md", "three.md", "two.md"].map(created));
  assert.ok(changes[0].diff.startsWith("--- /dev/null\n+++ b/one.md\n") && changes[0].diff.includes("+Keep commits small.\n"));

  const applied = await memdir.inbox.apply(id, { paths: ["one.md"] });
  assert.deepEqual(applied.results.map(({ outcome, path }) => [outcome, path]), [["written", "one.md"]]);
  assert.deepEqual(applied.left, ["three.md", "two.md"]);
  assert.equal(readFileSync(at("one.md"), "utf8"), MEMORY);
  assert.deepEqual(await memdir.inbox.drop(id, { paths: ["two.md"] }), ["three.md"]);
  writeFileSync(at("three.md"), "somebody else's");
  const [{ outcome, code: why }] = (await memdir.inbox.apply(id)).results;
  assert.deepEqual([outcome, why !== null], ["conflict", true]);
  assert.deepEqual(await memdir.inbox.drop(id), []);
  await assert.rejects(memdir.inbox.drop(id), code("not-found"));
  const all = await memdir.inbox.apply(second.inbox[0]);
  assert.deepEqual([all.results.length, all.left, existsSync(at("four.md"))], [1, [], true]);
  assert.deepEqual(await memdir.inbox.list(), { items: [], report: [] });

  for (const operation of ["apply", "drop"]) {
    await assert.rejects(memdir.inbox[operation]("../x"), code("invalid-argument"));
    await assert.rejects(memdir.inbox[operation](5), code("invalid-argument"));
    await assert.rejects(memdir.inbox[operation](id, { paths: "one.md" }), code("invalid-argument"));
    await assert.rejects(memdir.inbox[operation](id, { signal: AbortSignal.abort() }), code("aborted"));
  }
  await memdir.close();
  await assert.rejects(memdir.inbox.list(), code("closed"));
});

test("transcript: messages to be extracted from", async (t) => {
  const directory = folder(t);
  const path = join(directory, "session.jsonl");
  const lines = talk(2).map(({ id, ...message }) => ({ type: message.role, uuid: id, message }));
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { memdir, asked } = await opened(t, [], { directory });
  const { messages, leftOut, report } = await memdir.transcript("session.jsonl");
  const plain = (message) => ({ isMeta: false, tokens: null, ...message });
  assert.deepEqual([messages, leftOut, report], [talk(2).map(plain), 0, []]);
  assert.deepEqual(await memdir.transcript(path), { messages, leftOut, report });
  assert.equal((await memdir.extract(messages)).outcome, "done");
  assert.equal(asked.length, 1);
  await assert.rejects(memdir.transcript("missing.jsonl"), code("not-found"));
  await assert.rejects(memdir.transcript(directory), code("is-a-directory"));
  await assert.rejects(memdir.transcript(5), code("invalid-argument"));
});

/** What each provider says when a model calls a tool, by its documentation. */
const CALLING = {
  anthropic: (name, input) => ({
    ...PROVIDERS.anthropic.answer(""),
    content: [{ type: "thinking", thinking: "hm", signature: "sig" }, call(name, input, "toolu_1")],
    stop_reason: "tool_use",
    usage: { input_tokens: 5, cache_read_input_tokens: 1000, cache_creation_input_tokens: 10, output_tokens: 20 },
  }),
  openai: (name, input) => {
    const tool_calls = [{ id: "call_1", type: "function", function: { name, arguments: JSON.stringify(input) } }];
    const message = { role: "assistant", content: null, tool_calls };
    return { ...PROVIDERS.openai.answer(""), choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
  },
};

/** The tools that a conversation has already, as each provider takes them. */
const TOOLS = ["Read", "Write"].map((name) => ({ name, description: `${name}s "files" ☕`, schema: { type: "object", properties: {} } }));
const PARENTS = {
  anthropic: {
    system: [{ type: "text", text: "You are é \u2028 \ud83d\ude80.", cache_control: { type: "ephemeral" } }],
    tools: TOOLS.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    messages: [
      { role: "user", content: "please always write small commits" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: { b: 1.0, a: [1e21, "\\"] } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "</script>\u007f" }] },
      { role: "assistant", content: [{ type: "text", text: "I will." }] },
    ],
  },
  openai: {
    tools: TOOLS.map(({ name, description, schema }) => ({ type: "function", function: { name, description, parameters: schema } })),
    messages: [
      { role: "system", content: "You are é \u2028 \ud83d\ude80." },
      { role: "user", content: "please always write small commits" },
      { role: "assistant", content: "I will." },
    ],
  },
};

/** Without the marks for the cache, which move on and are no part of what is cached. */
const unmarked = (messages) => JSON.parse(JSON.stringify(messages, (key, value) => (key === "cache_control" ? undefined : value)));

for (const [kind, provider] of Object.entries(PROVIDERS)) {
  /** A store that asks a server, which answers by the number of the request; and what it was sent. */
  const asking = async (t, answer) => {
    const bodies = [];
    const url = await serve(t, async (request, response) => {
      assert.equal(request.url, provider.path);
      bodies.push(await bodyOf(request));
      const value = await answer(bodies.length, response);
      if (value !== undefined) {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
      }
    });
    const model = { name: provider.name, apiKey: "key", baseUrl: url + provider.base };
    return { bodies, ...(await opened(t, [], { model })) };
  };

  test(`${kind}: the run goes on behind the conversation, byte for byte`, async (t) => {
    const parent = PARENTS[kind];
    const { memdir, bodies, at } = await asking(t, (count) =>
      count < 4
        ? CALLING[kind]("Write", { file_path: at(`memory${count}.md`), content: MEMORY })
        : provider.answer("Done."),
    );
    const result = await memdir.extract(talk(), { request: parent });
    assert.deepEqual([result.outcome, result.ended, result.turns], ["done", "answered", 4]);
    assert.deepEqual(result.paths, ["memory1.md", "memory2.md", "memory3.md"]);
    assert.deepEqual(result.report, []);
    if (kind === "anthropic") {
      assert.deepEqual(result.usage, { input: 15, cached: 3000, written: 30, output: 60 });
    }
    assert.equal(bodies.length, 4);
    // All of the parent's bytes, up to where its messages end.
    const prefix = JSON.stringify(parent).slice(0, -"]}".length);
    for (const body of bodies) {
      assert.ok(body.startsWith(prefix), body);
      for (const part of [parent.system, parent.tools, ...parent.messages].filter((part) => part !== undefined)) {
        assert.ok(body.includes(JSON.stringify(part)));
      }
    }
    const [first, ...later] = bodies.map((body) => JSON.parse(body));
    assert.deepEqual(first.messages.slice(0, -1), parent.messages);
    assert.equal(first.messages.at(-1).role, "user");
    let before = first;
    for (const body of later) {
      const { messages, ...rest } = body;
      const { messages: known, ...same } = before;
      assert.deepEqual(rest, same, "all but the messages stays");
      assert.equal(messages.length, known.length + 2, "an answer and what its call gave");
      assert.deepEqual(unmarked(messages.slice(0, known.length)), unmarked(known));
      before = body;
    }
    const text = JSON.stringify(before.messages.at(-2));
    assert.ok(text.includes("memory3.md"), "the answer goes back as it came");
  });

  test(`${kind}: without a request the model is shown the messages, and given the tools`, async (t) => {
    const { memdir, bodies } = await asking(t, () => provider.answer("Nothing."));
    assert.equal((await memdir.extract(talk())).outcome, "done");
    const body = JSON.parse(bodies[0]);
    assert.equal(body.tools.length, 7);
    assert.ok(JSON.stringify(provider.userOf(body)).includes("small commits, number 0"));
  });

  test(`${kind}: a model without an end has five turns`, async (t) => {
    const { memdir, bodies } = await asking(t, () => CALLING[kind]("Glob", { pattern: "**" }));
    const { outcome, turns, ended } = await memdir.extract(talk());
    assert.deepEqual([outcome, turns, ended, bodies.length], ["done", 5, "turns", 5]);
  });

  test(`${kind}: cancelling stops the request`, async (t) => {
    const controller = new AbortController();
    const stopped = gate();
    const { memdir, bodies } = await asking(t, (count, response) => {
      if (count > 1) {
        return provider.answer("Nothing.");
      }
      response.on("close", stopped.open);
      controller.abort();
      return undefined;
    });
    await assert.rejects(memdir.extract(talk(), { signal: controller.signal }), code("aborted"));
    await stopped.promise;
    assert.equal(bodies.length, 1);
    assert.equal((await memdir.extract(talk())).outcome, "done");
  });

  test(`${kind}: a provider that refuses is left alone for a while`, async (t) => {
    const { memdir, bodies } = await asking(t, (_, response) => {
      response.writeHead(401).end(JSON.stringify(provider.error("no such key")));
    });
    const { outcome, code: why, message } = await memdir.extract(talk());
    assert.deepEqual([outcome, why], ["failed", "model-auth"]);
    assert.match(message, /status 401/);
    assert.equal((await memdir.extract(talk())).reason, "paused");
    assert.equal(bodies.length, 1);
  });
}
