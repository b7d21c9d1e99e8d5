// Recall over real folders: by words and by a function; budgets, options, use counts. What the
// adapters do is in model.test.mjs.

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { Memdir } from "memdir";
import { cutMemory, grantBytes, rankMemories } from "memdir/rules";

import { code, folder, memory, store } from "./support/folders.mjs";

const UNIX = process.platform !== "win32";
const ROOT = UNIX && process.geteuid() === 0;
const DAY = 86_400_000;
const QUERY = "How do we deploy the checkout service?";

/** Memories of which one answers {@link QUERY} by its words. */
const MEMORIES = {
  "deploy.md": memory("deploy", "how the checkout service is deployed"),
  "coffee.md": memory("coffee", "which beans the kitchen has"),
  "tests.md": memory("tests", "where fixtures live"),
};

/** Many memories about something else: what stands in all of a store says nothing. */
const OTHERS = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`other${index}.md`, memory(`other${index}`)]));

const codes = ({ report }) => report.map(({ code }) => code);
const paths = ({ memories }) => memories.map(({ path }) => path);

test("by words: what a recall gives", async (t) => {
  const path = store(t, MEMORIES);
  const written = Math.floor(Date.now() / 1000) * 1000 - 3 * DAY;
  utimesSync(join(path, "deploy.md"), written / 1000, written / 1000);
  const memdir = await Memdir.open({ directory: path });
  const recall = await memdir.recall(QUERY);
  const { header, content } = await memdir.read("deploy.md");
  const [found] = recall.memories;
  const [ranked] = rankMemories(
    QUERY,
    Object.entries(MEMORIES).map(([name, text]) => ({ path: name, text, ageDays: name === "deploy.md" ? 3 : 0 })),
  );
  assert.equal(ranked.path, "deploy.md");
  assert.deepEqual(found, {
    path: "deploy.md",
    absolutePath: join(path, "deploy.md"),
    mtimeMs: written,
    header,
    ageDays: 3,
    age: "3 days ago",
    warning: found.warning,
    content,
    note: null,
    reason: "lexical",
    score: ranked.score,
    text: `${found.warning}\n\nMemory ${join(path, "deploy.md")}:\n\n${content}`,
  });
  assert.match(found.warning, /3 days/);
  assert.deepEqual(recall, {
    memories: [found],
    report: [],
    state: { surfaced: ["deploy.md"], bytes: Buffer.byteLength(content) },
  });
});

test("render joins the texts, and is no part of the data", async (t) => {
  const path = store(t, { ...MEMORIES, "again.md": memory("again", "deploy the checkout service once more") });
  const memdir = await Memdir.open({ directory: path });
  const recall = await memdir.recall(QUERY);
  assert.equal(recall.memories.length, 2);
  const rendered = recall.render();
  assert.equal(rendered, `${recall.memories[0].text}\n\n${recall.memories[1].text}`);
  assert.deepEqual(Object.keys(recall), ["memories", "report", "state"]);
  assert.deepEqual(JSON.parse(JSON.stringify(recall)), structuredClone(recall));
  assert.doesNotMatch(inspect(recall), /render/);

  writeFileSync(join(path, "deploy.md"), memory("deploy", "checkout service: deploy it otherwise"));
  assert.equal(recall.render(), rendered, "what was recalled stays as it was");
  assert.notEqual((await memdir.recall(QUERY)).render(), rendered);
  const again = await memdir.recall(QUERY);
  assert.equal((await memdir.recall(QUERY)).render(), again.render());
  const { render } = again;
  assert.equal(render(), again.render());
  assert.equal((await memdir.recall("unicycle juggling lessons")).render(), "");
});

test("a function is asked and chooses", async (t) => {
  const directory = store(t, MEMORIES);
  let asked;
  for (const answer of [
    (text) => text,
    async (text) => text,
    async (text) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return `I think of these:\n\`\`\`json\n${text}\n\`\`\``;
    },
  ]) {
    const model = (request, options) => {
      asked = { request, options };
      return answer('{"selected_memories": ["coffee.md", "deploy.md"]}');
    };
    const memdir = await Memdir.open({ directory, model });
    const recall = await memdir.recall(QUERY, {
      recentTools: ["Grep"],
      toolResults: [{ tool: "Bash", ok: true }, { tool: "Edit", ok: false }, { tool: "Read", ok: null }, { tool: "Write" }],
    });
    assert.deepEqual(paths(recall), ["coffee.md", "deploy.md"]);
    assert.deepEqual(
      recall.memories.map(({ reason }) => reason),
      ["model", "model"],
    );
    assert.equal(recall.memories[0].score, null, "no word of it fits");
    assert.ok(recall.memories[1].score > 0);
    assert.deepEqual(recall.report, []);

    const { purpose, system, messages, maxTokens, schema, ...rest } = asked.request;
    assert.deepEqual(rest, {});
    assert.equal(purpose, "select-memories");
    assert.ok(system.includes("selected_memories"));
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user"],
    );
    assert.ok(messages[0].content.includes(QUERY));
    assert.ok(messages[0].content.includes(await memdir.manifest()));
    assert.match(messages[0].content, /Grep, Bash$/);
    assert.ok(Number.isInteger(maxTokens) && maxTokens >= 256);
    assert.deepEqual(schema.required, ["selected_memories"]);
    assert.deepEqual(Object.keys(asked.options), ["signal"]);
    assert.ok(asked.options.signal instanceof AbortSignal);
  }
});

test("an empty choice is a choice, and a limit holds for a model too", async (t) => {
  const directory = store(t, MEMORIES);
  const none = await Memdir.open({ directory, model: () => '{"selected_memories": []}' });
  assert.deepEqual(await none.recall(QUERY), { memories: [], report: [], state: { surfaced: [], bytes: 0 } });
  const all = await Memdir.open({ directory, model: () => JSON.stringify({ selected_memories: Object.keys(MEMORIES) }) });
  assert.deepEqual(paths(await all.recall(QUERY, { limit: 2 })), ["deploy.md", "coffee.md"]);
});

test("a function that cannot choose: words do, and the report says why", async (t) => {
  const directory = store(t, MEMORIES);
  const cases = [
    [() => { throw new Error("no quota left"); }, /no quota left/],
    [async () => { throw new Error("no quota left"); }, /no quota left/],
    [() => Promise.reject(), /undefined/],
    [() => undefined, /well-formed text/],
    [() => ({ selected_memories: [] }), /well-formed text/],
    [() => "\ud800", /well-formed text/],
    [() => "", /is empty/],
    [() => "I would take the first.", /no list of memories/],
    [() => '{"selected_memories": ["deploy.md"', /no list of memories/],
  ];
  for (const [model, why] of cases) {
    for (const strategy of ["auto", "model"]) {
      const memdir = await Memdir.open({ directory, model });
      const recall = await memdir.recall(QUERY, { strategy });
      assert.deepEqual(paths(recall), ["deploy.md"], String(model));
      assert.equal(recall.memories[0].reason, "lexical");
      assert.deepEqual(codes(recall), ["model-failed"]);
      assert.match(recall.report[0].message, why);
    }
  }
});

test("whatever a function throws, words decide", async (t) => {
  const directory = store(t, MEMORIES);
  const loud = () => {
    throw new TypeError("looked at");
  };
  const hostile = { get: loud, has: loud, getPrototypeOf: loud, getOwnPropertyDescriptor: loud, ownKeys: loud };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const thrown = {
    "a proxy": new Proxy({}, hostile),
    "a proxy of an error": new Proxy(new Error("inside"), hostile),
    "a revoked proxy": revoked.proxy,
    "a message that throws": Object.defineProperty(new Error(), "message", { get: loud }),
    "a code that throws": Object.defineProperty(new Error("x"), "code", { get: loud }),
    "a message that is none": Object.assign(new Error(), { message: 5 }),
    "a message that cannot be text": Object.assign(new Error(), { message: Object.create(null) }),
    "a code that every object has": Object.assign(new Error("x"), { code: "constructor" }),
    "a code that is a symbol": Object.assign(new Error("x"), { code: Symbol("x") }),
    "half of a pair": new Error("\ud800"),
    "nothing that has a text": Object.create(null),
    "a symbol": Symbol("x"),
    "a function": loud,
    null: null,
  };
  for (const [name, value] of Object.entries(thrown)) {
    for (const model of [() => { throw value; }, async () => { throw value; }, () => ({ get then() { throw value; } })]) {
      const memdir = await Memdir.open({ directory, model });
      const recall = await memdir.recall(QUERY);
      assert.deepEqual([paths(recall), codes(recall)], [["deploy.md"], ["model-failed"]], name);
      await memdir.close();
    }
  }
  for (const answer of [new Proxy({}, hostile), revoked.proxy]) {
    const memdir = await Memdir.open({ directory, model: () => answer });
    assert.deepEqual(codes(await memdir.recall(QUERY)), ["model-failed"]);
  }
});

test("a model that names what is not there", async (t) => {
  const directory = store(t, MEMORIES);
  const model = () => '{"selected_memories": ["../secret.md", "tests.md", "tests.md", "gone.md"]}';
  const recall = await (await Memdir.open({ directory, model })).recall(QUERY);
  assert.deepEqual(paths(recall), ["tests.md"]);
  assert.deepEqual(codes(recall), ["model-answer-cut"]);
  assert.match(recall.report[0].message, /secret\.md.*gone\.md/);
});

test("a function is not asked when it need not be", async (t) => {
  const directory = store(t, MEMORIES);
  const model = () => assert.fail("asked");
  const memdir = await Memdir.open({ directory, model });
  assert.deepEqual(codes(await memdir.recall(QUERY, { strategy: "lexical" })), []);
  assert.deepEqual(codes(await memdir.recall("checkout")), ["model-skipped"]);
  assert.deepEqual(codes(await memdir.recall("")), ["query-empty"]);
  const empty = await Memdir.open({ directory: folder(t), model });
  assert.deepEqual(await empty.recall(QUERY), { memories: [], report: [], state: { surfaced: [], bytes: 0 } });
  const plain = await Memdir.open({ directory });
  await assert.rejects(plain.recall(QUERY, { strategy: "model" }), (error) => code("no-model")(error) && error.family === "model");
});

test("a recall is cancelled while its model thinks", async (t) => {
  const directory = store(t, MEMORIES);
  const [controller, reason] = [new AbortController(), new Error("enough")];
  let theirs;
  const memdir = await Memdir.open({
    directory,
    model: (_, { signal }) => {
      theirs = signal;
      setImmediate(() => controller.abort(reason));
      return new Promise(() => {});
    },
  });
  await assert.rejects(
    memdir.recall(QUERY, { signal: controller.signal }),
    (error) => code("aborted")(error) && error.cause === reason,
  );
  assert.equal(theirs.aborted, true);
  await assert.rejects(memdir.recall(QUERY, { signal: AbortSignal.abort() }), code("aborted"));
  await memdir.close();
  assert.deepEqual(readdirSync(directory).sort(), Object.keys(MEMORIES).sort(), "nothing was recalled or counted");
});

test("a function may use the store that asks it", async (t) => {
  const memdir = await Memdir.open({
    directory: store(t, MEMORIES),
    model: async () => {
      const { memories } = await memdir.recall(QUERY, { strategy: "lexical" });
      return JSON.stringify({ selected_memories: memories.map(({ path }) => path) });
    },
  });
  const [{ path, reason }] = (await memdir.recall(QUERY)).memories;
  assert.deepEqual([path, reason], ["deploy.md", "model"]);
});

test("queries of every kind", async (t) => {
  const directory = store(t, { ...MEMORIES, "コーヒー.md": memory("豆", "台所のコーヒー豆について") });
  const memdir = await Memdir.open({ directory });
  for (const query of ["", " \n\t", "the", "?!", "\0", "\u200b", "…"]) {
    const recall = await memdir.recall(query);
    assert.deepEqual([recall.memories, codes(recall)], [[], ["query-empty"]], JSON.stringify(query));
  }
  for (const query of [
    "deploy\0checkout\0service",
    "DEPLOY CHECKOUT SERVICE",
    "deploy checkout service 👩‍👩‍👧",
    "\ufeffdeploy checkout service",
  ]) {
    assert.equal(paths(await memdir.recall(query))[0], "deploy.md", JSON.stringify(query));
  }
  assert.equal(paths(await memdir.recall("コーヒー豆"))[0], "コーヒー.md");
  assert.deepEqual(paths(await memdir.recall("unicycle juggling lessons")), []);

  const million = `deploy the checkout service ${"é".repeat(500_000)}`;
  const long = await memdir.recall(million);
  assert.deepEqual(codes(long), ["query-cut"]);
  const behind = await memdir.recall(`${"x ".repeat(500_000)} deploy the checkout service`);
  assert.deepEqual([paths(behind), codes(behind)], [[], ["query-cut"]], "what is behind the limit is not looked at");
});

test("half a surrogate pair is refused wherever text enters", async (t) => {
  const memdir = await Memdir.open({ directory: store(t, MEMORIES) });
  const bad = "a\ud800";
  await assert.rejects(memdir.recall(bad), code("invalid-text"));
  await assert.rejects(memdir.recall("\udc00 deploy"), code("invalid-text"));
  for (const options of [
    { strategy: bad },
    { recentTools: [bad] },
    { toolResults: [{ tool: bad, ok: true }] },
    { surfaced: ["a.md", bad] },
    { alreadyRead: [bad] },
    { state: { surfaced: [bad], bytes: 0 } },
  ]) {
    await assert.rejects(memdir.recall(QUERY, options), code("invalid-text"), inspect(options));
  }
  for (const model of [bad, { name: bad }, { name: "openai/x", apiKey: bad }, { name: "openai/x", apiKey: "x", baseUrl: bad }]) {
    await assert.rejects(Memdir.open({ directory: "/srv/memory", model }), code("invalid-text"), inspect(model));
  }
});

test("arguments of the wrong type", async (t) => {
  const memdir = await Memdir.open({ directory: store(t, MEMORIES) });
  for (const query of [undefined, null, 1, ["a"], {}, Symbol("x")]) {
    await assert.rejects(memdir.recall(query), code("invalid-argument"));
  }
  for (const options of [
    null,
    "x",
    { limits: 1 },
    { limit: 0 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: Number.NaN },
    { limit: 2 ** 32 },
    { limit: "1" },
    { strategy: "fast" },
    { strategy: 1 },
    { recentTools: "Bash" },
    { recentTools: [1] },
    { recentTools: null },
    { recentTools: new Set(["Bash"]) },
    { toolResults: ["Bash"] },
    { toolResults: [undefined] },
    { toolResults: [{ ok: true }] },
    { toolResults: [{ tool: "Bash", ok: "yes" }] },
    { toolResults: [{ tool: "Bash", failed: true }] },
    { surfaced: {} },
    { surfaced: [, "a.md"] },
    { alreadyRead: [null] },
    { state: [] },
    { state: "x" },
    { state: {} },
    { state: { surfaced: [] } },
    { state: { surfaced: "a.md", bytes: 0 } },
    { state: { surfaced: [], bytes: -1 } },
    { state: { surfaced: [], bytes: 0.5 } },
    { state: { surfaced: [], bytes: 2 ** 53 } },
    { state: { surfaced: [], bytes: 0n } },
    { state: { surfaced: [], bytes: 0, more: 1 } },
    { signal: 1 },
  ]) {
    await assert.rejects(memdir.recall(QUERY, options), code("invalid-argument"), inspect(options));
  }
  const says = [
    [{ strategy: "x" }, 'strategy must be auto, model or lexical, not "x"'],
    [{ strategy: 1 }, "strategy must be auto, model or lexical, not number"],
    [{ limit: -1 }, "limit must be a whole number from 1 to 4294967295, not -1"],
    [{ limit: 0 }, "limit must be a whole number from 1 to 4294967295, not 0"],
    [{ surfaced: "c.md" }, "surfaced must be a list, not string"],
  ];
  for (const [options, message] of says) {
    await assert.rejects(memdir.recall(QUERY, options), { name: "MemdirError", code: "invalid-argument", message });
  }
  await assert.rejects(Memdir.open({ directory: "/srv/memory", platform: "mac" }), {
    code: "invalid-argument",
    message: 'platform must be posix or windows, not "mac"',
  });
  const undefineds = { limit: undefined, strategy: undefined, surfaced: undefined, state: undefined };
  for (const options of [undefined, {}, { limit: null, state: null }, undefineds]) {
    assert.deepEqual(paths(await memdir.recall(QUERY, options)), ["deploy.md"]);
  }
  for (const model of [
    1,
    true,
    [],
    {},
    "",
    "function",
    { name: "function" },
    "claude",
    "anthropic/",
    "bedrock/x",
    { name: "openai/x" },
    { name: "openai/x", apiKey: 1 },
    { name: "openai/x", apiKey: "x", baseUrl: "example.com" },
    { name: "openai/x", apiKey: "x", baseUrl: 1 },
    { name: "openai/x", apiKey: "x", url: "http://example.com" },
    { apiKey: "x" },
  ]) {
    await assert.rejects(Memdir.open({ directory: "/srv/memory", env: {}, model }), code("invalid-argument"), inspect(model));
  }
  await Memdir.open({ directory: "/srv/memory", env: {}, model: null });
});

test("at most five memories, and a smaller limit", async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`m${index}.md`, memory(`m${index}`, "deploy the checkout service")]),
  );
  const memdir = await Memdir.open({ directory: store(t, { ...OTHERS, ...many }) });
  assert.equal((await memdir.recall(QUERY)).memories.length, 5);
  assert.deepEqual(codes(await memdir.recall(QUERY, { limit: 5 })), []);
  const lowered = await memdir.recall(QUERY, { limit: 6 });
  assert.deepEqual([lowered.memories.length, codes(lowered)], [5, ["limit-lowered"]]);
  const one = await memdir.recall(QUERY, { limit: 1 });
  assert.deepEqual(paths(one), paths(lowered).slice(0, 1));
});

test("what was surfaced or read is left out, relative or absolute", async (t) => {
  const directory = store(t, MEMORIES);
  mkdirSync(join(directory, "team"));
  writeFileSync(join(directory, "team", "deploy.md"), memory("ours", "how the team deploys the checkout service"));
  const memdir = await Memdir.open({ directory });
  assert.deepEqual(paths(await memdir.recall(QUERY)).sort(), ["deploy.md", "team/deploy.md"]);
  for (const option of ["surfaced", "alreadyRead"]) {
    for (const given of ["deploy.md", join(directory, "deploy.md")]) {
      const recall = await memdir.recall(QUERY, { [option]: [given, "/elsewhere/tests.md", ""] });
      assert.deepEqual(paths(recall), ["team/deploy.md"], `${option} ${given}`);
    }
    const team = await memdir.recall(QUERY, { [option]: [join(directory, "team", "deploy.md")] });
    assert.deepEqual(paths(team), ["deploy.md"]);
  }
  const both = await memdir.recall(QUERY, { surfaced: ["deploy.md"], alreadyRead: ["team/deploy.md"] });
  assert.deepEqual(both, { memories: [], report: [], state: { surfaced: [], bytes: 0 } });
});

test("a model is not shown what was surfaced", async (t) => {
  let shown;
  const model = ({ messages }) => {
    shown = messages[0].content;
    return '{"selected_memories": ["deploy.md"]}';
  };
  const memdir = await Memdir.open({ directory: store(t, MEMORIES), model });
  const recall = await memdir.recall(QUERY, { surfaced: ["deploy.md"] });
  assert.ok(!shown.includes("deploy.md") && shown.includes("coffee.md"));
  assert.deepEqual([recall.memories, codes(recall)], [[], ["model-answer-cut"]]);
});

test("budgets: of a memory, of a turn, of a conversation", async (t) => {
  // 4,000 bytes of lines and a last line that does not fit into 4,096 any more.
  const long = (name) => memory(name, "deploy the checkout service").padEnd(3999, "x") + "\n" + "y".repeat(200) + "\n";
  const many = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`m${index}.md`, long(`m${String(index).padStart(2, "0")}`)]),
  );
  const directory = store(t, { ...OTHERS, ...many });
  const memdir = await Memdir.open({ directory });
  let state;
  const seen = new Set();
  for (let turn = 1; turn <= 3; turn += 1) {
    const recall = await memdir.recall(QUERY, { state });
    assert.equal(recall.memories.length, 5);
    for (const { path, content, note, text } of recall.memories) {
      const cut = cutMemory(many[path], 4201, join(directory, path), 4096);
      assert.equal(Buffer.byteLength(content), 3999, "without the last line end");
      assert.deepEqual([content, note], [cut.content, cut.note]);
      assert.ok(text.endsWith(note));
      assert.ok(!seen.has(path));
      seen.add(path);
    }
    assert.deepEqual(codes(recall), Array(5).fill("content-cut"));
    assert.equal(recall.state.bytes, turn * 5 * 3999);
    assert.deepEqual(recall.state.surfaced, [...seen]);
    state = JSON.parse(JSON.stringify(recall.state));
  }
  // 61,440 - 59,985 bytes are left: one more memory of 1,455 bytes, cut, and scraps of the others.
  const left = 60 * 1024 - 3 * 5 * 3999;
  assert.deepEqual(grantBytes(state.bytes, [4201, 4201]), [left, 0]);
  const last = await memdir.recall(QUERY, { state });
  assert.equal(last.memories.length, 1);
  assert.ok(Buffer.byteLength(last.memories[0].content) <= left);
  assert.deepEqual(
    codes(last).toSorted(),
    ["content-cut", "session-budget", "session-budget", "session-budget", "session-budget"],
  );
  const over = await memdir.recall(QUERY, { state: { surfaced: [], bytes: 60 * 1024 } });
  assert.deepEqual([over.memories, codes(over), over.state.bytes], [[], ["session-budget"], 60 * 1024]);
  // After a compaction the agent begins anew.
  memdir.compacted();
  assert.equal((await memdir.recall(QUERY, { state: { surfaced: [], bytes: 0 } })).memories.length, 5);
});

test("what is broken, large or odd hides nothing else", { skip: !UNIX }, async (t) => {
  const directory = store(t, {
    ...MEMORIES,
    "latin.md": Buffer.from([0x63, 0xe9, 0x0a]),
    "nul.md": "deploy checkout service\0",
    "empty.md": "",
    "huge.md": memory("huge", "unrelated") + "z".repeat(3_000_000),
  });
  symlinkSync("/etc/passwd", join(directory, "outside.md"));
  const memdir = await Memdir.open({ directory });
  const recall = await memdir.recall(QUERY);
  assert.deepEqual(paths(recall), ["deploy.md"]);
  const reported = Object.fromEntries(recall.report.map(({ path, code }) => [path, code]));
  assert.equal(reported["latin.md"], "not-utf8");
  assert.equal(reported["outside.md"], "link-outside");
  assert.deepEqual(
    recall.report.map(({ path }) => path),
    recall.report.map(({ path }) => path).toSorted(),
  );
});

test("changes are seen by the next recall", async (t) => {
  const directory = store(t, MEMORIES);
  const memdir = await Memdir.open({ directory });
  await memdir.recall(QUERY);
  writeFileSync(join(directory, "new.md"), memory("new", "unicycle juggling lessons"));
  assert.deepEqual(paths(await memdir.recall("unicycle juggling lessons")), ["new.md"]);
});

test("many recalls at once", async (t) => {
  const memdir = await Memdir.open({ directory: store(t, MEMORIES) });
  const all = await Promise.all(Array.from({ length: 30 }, () => memdir.recall(QUERY)));
  assert.equal(new Set(all.map((one) => one.render())).size, 1);
  assert.deepEqual(paths(all[0]), ["deploy.md"]);
});

test("memory that is off", async (t) => {
  const directory = store(t, MEMORIES);
  const memdir = await Memdir.open({
    directory,
    env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" },
    model: () => assert.fail("asked"),
  });
  const recall = await memdir.recall(QUERY);
  assert.deepEqual([recall.memories, codes(recall)], [[], ["disabled"]]);
  await memdir.close();
  assert.deepEqual(readdirSync(directory).sort(), Object.keys(MEMORIES).sort());
});

/** The counts in a store's own folder. */
function uses(directory) {
  const { uses } = JSON.parse(readFileSync(join(directory, ".memdir/uses.json"), "utf8"));
  return Object.fromEntries(Object.entries(uses).map(([path, { count }]) => [path, count]));
}

test("closing writes how often what was recalled", async (t) => {
  const directory = store(t, MEMORIES);
  const before = Date.now();
  const memdir = await Memdir.open({ directory });
  await memdir.recall(QUERY);
  await memdir.recall(QUERY);
  assert.equal(existsSync(join(directory, ".memdir")), false, "not while somebody waits");
  const running = memdir.recall(QUERY);
  await Promise.all([memdir.close(), memdir.close()]);
  assert.deepEqual(paths(await running), ["deploy.md"], "what ran was waited for");
  assert.deepEqual(uses(directory), { "deploy.md": 3 });
  const { lastMs } = JSON.parse(readFileSync(join(directory, ".memdir/uses.json"), "utf8")).uses["deploy.md"];
  assert.ok(lastMs >= before && lastMs <= Date.now());
  if (UNIX) {
    assert.equal(statSync(join(directory, ".memdir")).mode & 0o777, 0o700);
    assert.equal(statSync(join(directory, ".memdir/uses.json")).mode & 0o777, 0o600);
  }
  assert.equal(readFileSync(join(directory, ".memdir/.gitignore"), "utf8"), "*\n");
  assert.deepEqual(readdirSync(join(directory, ".memdir")).sort(), [".gitignore", "uses.json"]);

  await memdir.close();
  await memdir[Symbol.asyncDispose]();
  assert.deepEqual(uses(directory), { "deploy.md": 3 }, "once");
  await assert.rejects(memdir.recall(QUERY), code("closed"));

  const again = await Memdir.open({ directory });
  assert.deepEqual(paths(await again.recall(QUERY)), ["deploy.md"]);
  await again.close();
  assert.deepEqual(uses(directory), { "deploy.md": 4 });
  assert.deepEqual(paths(await (await Memdir.open({ directory })).recall("gitignore uses json")), [], "no memory is in there");
});

test("uses survive a compaction", async (t) => {
  const directory = store(t, MEMORIES);
  const memdir = await Memdir.open({ directory });
  await memdir.recall(QUERY);
  memdir.compacted();
  await memdir.close();
  assert.deepEqual(uses(directory), { "deploy.md": 1 });
});

test("counting that is switched off, or has nothing to count", async (t) => {
  const directory = store(t, MEMORIES);
  const off = await Memdir.open({ directory, features: { countUses: false } });
  await off.recall(QUERY);
  await off.close();
  const nothing = await Memdir.open({ directory });
  await nothing.recall("unicycle juggling lessons");
  await nothing.scan();
  await nothing.close();
  const missing = await Memdir.open({ directory: join(folder(t), "missing") });
  assert.deepEqual(paths(await missing.recall(QUERY)), []);
  await missing.close();
  assert.equal(existsSync(missing.directory), false);
  assert.deepEqual(readdirSync(directory).sort(), Object.keys(MEMORIES).sort());
});

test("counts that cannot be read begin anew, with a note", async (t) => {
  const directory = store(t, MEMORIES);
  mkdirSync(join(directory, ".memdir"));
  writeFileSync(join(directory, ".memdir/uses.json"), "{");
  const memdir = await Memdir.open({ directory });
  assert.deepEqual(codes(await memdir.recall(QUERY)), ["uses-unreadable"]);
  await memdir.close();
  assert.deepEqual(uses(directory), { "deploy.md": 1 });
});

test("a store that nothing can be written to works silently", { skip: !UNIX }, async (t) => {
  const taken = store(t, { ...MEMORIES, ".memdir": "a file" });
  const linked = store(t, MEMORIES);
  const elsewhere = folder(t);
  symlinkSync(elsewhere, join(linked, ".memdir"));
  const locked = store(t, MEMORIES);
  chmodSync(locked, 0o555);
  for (const directory of [taken, linked, locked]) {
    const before = readdirSync(directory).sort();
    const events = [];
    const memdir = await Memdir.open({ directory, onEvent: (event) => events.push(event) });
    // Nothing is forbidden to root.
    const forbidden = ROOT && directory === locked;
    if (forbidden) {
      process.seteuid(65534);
    }
    try {
      const recall = await memdir.recall(QUERY);
      // What is behind a link is not the store's, and not read.
      const said = directory === linked ? ["uses-unreadable"] : [];
      assert.deepEqual([paths(recall), codes(recall)], [["deploy.md"], said], directory);
      await memdir.close();
    } finally {
      if (forbidden) {
        process.seteuid(0);
      }
      chmodSync(directory, 0o755);
    }
    assert.deepEqual(events, []);
    assert.deepEqual(readdirSync(directory).sort(), before);
  }
  assert.deepEqual(readdirSync(elsewhere), [], "no link is followed out of the store");
});

test("a recall among 5,000 memories", async (t) => {
  const directory = folder(t);
  for (let index = 0; index < 5_000; index += 1) {
    const body = Array.from({ length: 40 }, (_, word) => `word${(index * 31 + word * 7) % 3000}`).join(" ");
    writeFileSync(join(directory, `memory_${index}.md`), memory(`topic${index}`, `notes on topic${index}`) + body);
  }
  const memdir = await Memdir.open({ directory });
  for (const name of ["first", "warm"]) {
    let [longest, running, last] = [0, true, performance.now()];
    const look = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (running) {
        setImmediate(look);
      }
    };
    setImmediate(look);
    const started = performance.now();
    const recall = await memdir.recall("what are the notes on topic4321");
    const whole = performance.now() - started;
    running = false;
    assert.equal(paths(recall)[0], "memory_4321.md");
    console.log(`${name} recall: ${whole.toFixed(0)} ms, at most ${longest.toFixed(1)} ms at a stretch`);
  }
});
