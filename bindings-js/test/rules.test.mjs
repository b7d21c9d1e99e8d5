// The rules beyond the vectors: properties, wrong arguments, the table of errors.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import fc from "fast-check";
import { Memdir, MemdirError } from "memdir";
import * as rules from "memdir/rules";

import { folder } from "./support/folders.mjs";

const MAX_LINES = 200;
const MAX_BYTES = 25_000;
const FAMILIES = ["engine", "input", "path", "host", "model", "team"];
const text = fc.string({ unit: "binary", maxLength: 300 });
const byteLength = (value) => Buffer.byteLength(value);

test("truncateIndex keeps its limits and gives a prefix", () => {
  const line = fc.oneof(text, fc.constantFrom("- [a](a.md) x", "項目".repeat(200), "👩‍👩‍👧‍👦".repeat(50), "", "\r"));
  const index = fc
    .tuple(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), fc.constantFrom("\n", "\r\n"))
    .map(([lines, times, end]) => Array(times).fill(lines.join(end)).join(end));
  fc.assert(
    fc.property(index, (whole) => {
      const { content, warning, lines, bytes, linesCut, bytesCut, lost } = rules.truncateIndex(whole);
      assert.ok(content.isWellFormed());
      assert.ok(byteLength(content) <= MAX_BYTES);
      assert.ok(content.split("\n").length <= MAX_LINES);
      assert.ok(whole.includes(content));
      assert.equal(linesCut, lines > MAX_LINES);
      assert.equal(bytesCut, bytes > MAX_BYTES);
      assert.equal(warning !== null, linesCut || bytesCut);
      if (warning === null) {
        assert.equal(byteLength(content), bytes);
        assert.deepEqual(lost, []);
      } else {
        assert.ok(byteLength(content) < bytes);
      }
    }),
  );
});

test("parseFrontmatter takes anything, and its body is a suffix", () => {
  const block = fc.tuple(text, text).map(([head, body]) => `---\n${head}\n---\n${body}`);
  fc.assert(
    fc.property(fc.oneof(text, block), (whole) => {
      const { found, body, problems } = rules.parseFrontmatter(whole);
      const rest = Buffer.from(whole).subarray(body).toString();
      assert.ok(whole.endsWith(rest));
      assert.ok(found || body === 0);
      assert.ok(Array.isArray(problems));
    }),
  );
});

test("validateMemoryPath changes nothing of its own result", () => {
  const part = fc.constantFrom("a", "..", ".", "", "e\u0301", "b c", "~", "\\", "C:");
  const path = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join("/")}`);
  fc.assert(
    fc.property(path, fc.constantFrom("posix", "windows"), (given, platform) => {
      let once;
      try {
        once = rules.validateMemoryPath(given, { platform });
      } catch (error) {
        assert.ok(error.code.startsWith("path-"));
        return;
      }
      assert.equal(rules.validateMemoryPath(once, { platform }), once);
    }),
  );
});

test("batchEntries loses nothing and keeps its limit", () => {
  const key = fc.oneof(text, fc.constantFrom("__proto__", "constructor", "1", "02"));
  const entries = fc.array(fc.tuple(key, text), { maxLength: 12 }).map(Object.fromEntries);
  fc.assert(
    fc.property(entries, fc.integer({ min: 0, max: 2000 }), (all, maxBytes) => {
      const batches = rules.batchEntries(all, { maxBytes });
      assert.deepEqual(Object.fromEntries(batches.flatMap(Object.entries)), all);
      for (const batch of batches) {
        const size = byteLength(JSON.stringify({ entries: batch }));
        assert.ok(size <= maxBytes || Object.keys(batch).length === 1);
      }
      assert.deepEqual(rules.teamDelta(all, {}), all);
    }),
  );
});

test("what is left out of an input counts as null", () => {
  assert.equal(rules.envFlag(undefined), null);
  assert.deepEqual(rules.memoryEnabled({}), { enabled: true, because: "default" });
  assert.deepEqual(rules.memoryEnabled({ CLAUDE_CODE_SIMPLE: undefined }, { user: undefined, policy: false, flag: null }), {
    enabled: false,
    because: "settings-policy",
  });
  assert.deepEqual(rules.chooseDirectory({ platform: "posix", env: { CLAUDE_CONFIG_DIR: "/c" }, settings: {}, projectRoot: "/p/q" }), {
    directory: "/c/projects/-p-q/memory/",
    chosenBy: "default",
    projectKey: "-p-q",
    refused: [],
  });
  assert.deepEqual(rules.memoryAge({ mtimeMs: -1, nowMs: 0 }), { days: 0, text: "today", warning: null });
  assert.equal(rules.defaultScope(undefined, { team: true }), "private");
  assert.deepEqual(rules.lintMemories({ memories: [] }), []);
  assert.equal(rules.resolveImport("~/a.md", "/p/CLAUDE.md", { platform: "posix" }), null);
  assert.deepEqual(rules.instructionPlaces(places()), []);
  assert.equal(rules.memoryFileName("user", "role"), "user_role.md");
  assert.deepEqual(rules.updateMemory(null, { name: "a", body: null }), { content: "---\nname: a\n---\n", changed: true });
  assert.equal(rules.updateIndex(undefined, "team", "a.md", { name: "a" }).content, "- [a](../a.md)\n");
});

test("two memories with one path are two memories", () => {
  const one = { path: "a.md", text: "---\nname: a\ndescription: d\ntype: user\n---\n" };
  assert.deepEqual(
    rules.lintMemories({ memories: [one, one] }).map(({ code }) => code),
    ["duplicate-name"],
  );
});

test("parseInstructions takes anything, and what it says leads somewhere", () => {
  const words = fc.constantFrom("@a.md", "@./b", "`", "```\n", "<!--", "-->", "---\n", "paths: [", "\n", " ", "- ", "> ", "@@", "é");
  const whole = fc.array(fc.oneof(words, text), { maxLength: 30 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(whole, (whole) => {
      const { text, imports, paths, problems } = rules.parseInstructions(whole);
      assert.ok(byteLength(text) <= byteLength(whole));
      assert.equal(new Set(imports.map(({ target }) => target)).size, imports.length);
      assert.ok(paths === null || paths.length > 0);
      assert.ok(problems.every((code) => typeof code === "string"));
      for (const { target } of imports) {
        const resolved = rules.resolveImport(target, "/p/CLAUDE.md", { platform: "posix", home: "/h" });
        assert.ok(resolved === null || resolved.path.startsWith("/"), target);
      }
    }),
  );
});

test("what a recall may show stays within its limits", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 10_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 70_000 }), sizes, (used, wanted) => {
      const granted = rules.grantBytes(used, wanted);
      const sum = granted.reduce((sum, bytes) => sum + bytes, 0);
      assert.equal(granted.length, wanted.length);
      assert.ok(sum <= 20 * 1024 && sum <= Math.max(0, 60 * 1024 - used));
      granted.forEach((bytes, index) => assert.ok(bytes <= Math.min(wanted[index], 4096)));
    }),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 300 }), fc.integer({ min: 0, max: 5000 }), (lines, maxBytes) => {
      const whole = lines.join("\n");
      const { content, note } = rules.cutMemory(whole, byteLength(whole), "/a.md", maxBytes);
      assert.ok(whole.startsWith(content) && content.isWellFormed());
      assert.ok(byteLength(content) <= Math.min(maxBytes + 1, 4097), "the last line end is not counted");
      assert.ok(content.split("\n").length <= 201);
      assert.equal(note === null, content === whole);
    }),
  );
  assert.deepEqual(rules.grantBytes(Number.MAX_SAFE_INTEGER, [Number.MAX_SAFE_INTEGER]), [0]);
});

test("an index line comes and goes, and leaves nothing behind", () => {
  const line = fc.oneof(text, fc.constantFrom("- [b](b.md) — two", "* [a](a.md)", "[b](b.md) and [c](c.md)", "", "\r", "# Notes"));
  const index = fc
    .tuple(fc.array(line, { maxLength: 10 }), fc.constantFrom("\n", "\r\n"))
    .map(([lines, end]) => `${lines.join(end)}x${end}`);
  fc.assert(
    fc.property(index, text, fc.option(text), (whole, name, description) => {
      const path = "new folder/项目 (1).md";
      const entry = { name, description };
      const added = rules.updateIndex(whole, "", path, entry);
      assert.ok(added.changed && added.content.isWellFormed());
      assert.deepEqual(rules.updateIndex(added.content, "", path, entry), { content: added.content, changed: false });
      assert.deepEqual(rules.updateIndex(added.content, "", path, null), { content: whole, changed: true });
    }),
  );
});

test("a model's answer and its body may be anything", () => {
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 5 }), (answer, candidates) => {
      try {
        const { paths } = rules.readSelection(answer, candidates);
        assert.ok(paths.every((path) => candidates.includes(path)));
      } catch (error) {
        assert.equal(error.code, "model-answer");
      }
      const asked = JSON.stringify({ selected_memories: candidates });
      assert.ok(rules.readSelection(`${asked} ${asked}`, candidates).paths.length <= 5);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), fc.oneof(text, fc.json()), (status, body) => {
      try {
        assert.equal(typeof rules.decodeModelAnswer("openai/x", status, body), "string");
      } catch (error) {
        assert.equal(error.family, "model");
      }
    }),
  );
});

test("a request goes out as it was given", () => {
  const { url, headers, body } = rules.encodeModelRequest(model(), { ...request(), schema: undefined });
  assert.equal(url, "https://example.com/v1/chat/completions");
  assert.deepEqual(
    headers.find(({ name }) => name === "authorization"),
    { name: "authorization", value: "Bearer secret" },
  );
  assert.deepEqual(JSON.parse(body).messages.at(-1), { role: "user", content: "c\0\u{1F600}" });
  const schema = { type: "object", properties: { a: { enum: [1, 1.5, -1e300, null, true, "é"] } }, none: undefined };
  const sent = JSON.parse(rules.encodeModelRequest(model(), { ...request(), schema }).body);
  assert.deepEqual(sent.response_format.json_schema.schema, JSON.parse(JSON.stringify(schema)));
});

test("what a team's sync goes by", () => {
  assert.equal(rules.teamRepository("git@example.com:acme/app.git"), "acme/app");
  assert.equal(rules.teamRepository("../app"), null);
  const [one, two] = ["1", "2"].map((digit) => `sha256:${digit.repeat(64)}`);
  const actions = rules.teamReconcile({ a: one, b: one, __proto__: null }, { a: two, b: one, c: one }, { a: one, b: two, c: two, d: one }, { d: one });
  assert.deepEqual(actions, { a: "send", b: "receive", c: "conflict", d: "forgotten" });
  const proto = JSON.parse(`{ "__proto__": "${one}" }`);
  assert.deepEqual(Object.entries(rules.teamReconcile({}, proto, {}, {})), [["__proto__", "send"]]);
  const merged = rules.mergeTeamIndex("- [A](a.md)\n", "- [A](a.md)\n- [C](c.md)\n", "- [A](a.md) new\n");
  assert.deepEqual(merged, { content: "- [A](a.md) new\n- [C](c.md)\n", lost: false });
  assert.equal(rules.mergeTeamIndex(null, "- [A](a.md) ours\n", "- [A](a.md) theirs\n").lost, true);
  assert.deepEqual([rules.retryPauseMs(0, 0), rules.retryPauseMs(1, 255, null), rules.retryPauseMs(5, 0, " 7 ")], [500, 1250, 7000]);
  fc.assert(
    fc.property(text, text, fc.option(text), (local, server, base) => {
      const { content } = rules.mergeTeamIndex(base, local, server);
      assert.ok(content.isWellFormed());
      assert.equal(rules.mergeTeamIndex(server, server, server).content, server);
    }),
  );
});

test("what a model's shell command becomes", () => {
  assert.deepEqual(rules.readOnlyCommand("grep -rn 'a b' notes | head -5"), [
    { argv: ["grep", "-rn", "a b", "notes"], paths: ["notes"] },
    { argv: ["head", "-5"], paths: [] },
  ]);
  assert.throws(() => rules.readOnlyCommand("rm -r notes"), {
    name: "MemdirError",
    code: "shell-unknown-program",
    family: "input",
    message: /^"rm" is not among the programs that only read: ls, /,
  });
});

test("a conversation with tools goes out and comes back", () => {
  const inputSchema = { type: "object", properties: { a: { enum: [1, "é"] } } };
  const asked = {
    purpose: "p",
    prefix: '{"messages":[{"role":"user","content":"\\u00e9"}],"x":1.0}',
    system: "",
    tools: [{ name: "Write", description: "Writes.", inputSchema }],
    prompt: "Go.",
    turns: [],
    maxTokens: 100,
  };
  const { url, body } = rules.encodeToolRequest(model(), asked);
  assert.equal(url, "https://example.com/v1/chat/completions");
  assert.ok(body.startsWith('{"messages":[{"role":"user","content":"\\u00e9"}'), body);
  const sent = JSON.parse(body);
  assert.deepEqual([sent.messages.length, sent.x], [2, 1]);
  assert.deepEqual(sent.tools[0].function.parameters, inputSchema);
  fc.assert(
    fc.property(fc.constantFrom("anthropic/x", "openai/x"), fc.oneof(text, fc.json()), (name, answered) => {
      try {
        const { calls, answer } = rules.decodeToolAnswer(name, 200, answered);
        assert.ok(Array.isArray(calls) && typeof JSON.parse(answer) === "object");
      } catch (error) {
        assert.equal(error.family, "model");
      }
    }),
  );
});

test("whether it is time for an extraction, and what was said", () => {
  const messages = [
    { id: "u", role: "user", content: "please write small commits" },
    { id: "a", role: "assistant", content: "I will." },
  ];
  const state = { cursor: null, turns: 0 };
  const decided = { verdict: "run", reason: null, state, newMessages: 2, last: "a" };
  assert.deepEqual(rules.decideExtraction(messages, state, extractionGate()), decided);
  const later = { cursor: "a", turns: 3 };
  const { verdict, reason, state: same } = rules.decideExtraction(messages, later, extractionGate());
  assert.deepEqual([verdict, reason, same], ["skip", "nothing-new", later]);
  const lines = messages.map((message) => JSON.stringify(message)).join("\n");
  const { messages: read, leftOut, report } = rules.parseTranscript(lines);
  assert.deepEqual([read.map(({ content }) => content), leftOut, report], [messages.map(({ content }) => content), 0, []]);
  assert.deepEqual(rules.decideExtraction(read, state, extractionGate()), decided);
  const proto = '{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"y","input":{"__proto__":1}}]}';
  assert.deepEqual(Object.entries(rules.parseTranscript(proto).messages[0].content[0].input), [["__proto__", 1]]);
  fc.assert(
    fc.property(fc.oneof(text, fc.json(), fc.array(fc.json()).map((lines) => lines.join("\n"))), (transcript) => {
      const parsed = rules.parseTranscript(transcript);
      assert.ok(["run", "skip"].includes(rules.decideExtraction(parsed.messages, state, extractionGate()).verdict));
    }),
  );
});

test("notes of a session, and dreams", () => {
  assert.equal(rules.sessionNotesDue({ tokens: 10_000, lastTokens: undefined, toolCalls: 3 }), true);
  assert.equal(rules.sessionNotesDue({ tokens: 2 ** 40, lastTokens: 2 ** 40 - 4_999, toolCalls: 3 }), false);
  assert.equal(rules.decideDream(dreamGate()), null);
  assert.equal(rules.decideDream({ ...dreamGate(), nowMs: -1, lastMs: -2 }), "too-soon");
  assert.equal(rules.lockIsHeld({ nowMs: 5, mtimeMs: 0, body: "7" }), true);
  assert.equal(rules.fillTemplate("{{notesPath}}{{x}}", { currentNotes: "", notesPath: "{{currentNotes}}" }), "{{currentNotes}}{{x}}");
  const messages = [{ id: "u", role: "user", content: "hello" }];
  const cut = rules.compactionCut({ messages, notes: "# A\nb", template: "# A\n", lastSummarised: "u" });
  assert.deepEqual([cut.notes, cut.keepFrom, cut.reason], ["# A\nb", 0, null]);
  assert.equal(rules.compactionCut({ messages, template: "" }).reason, "no-notes");
  fc.assert(
    fc.property(text, text, (notes, template) => {
      const { tokens, sections } = rules.measureNotes(notes);
      assert.ok(tokens >= 0 && sections.every(({ heading }) => notes.includes(heading)));
      assert.equal(rules.fillTemplate(notes.replaceAll("{", ""), { currentNotes: "x", notesPath: "y" }), notes.replaceAll("{", ""));
      const { reason } = rules.compactionCut({ messages, notes, template });
      assert.equal(reason === "empty-notes", rules.notesAreEmpty(notes, template));
    }),
  );
});

test("wrong arguments", () => {
  const header = rules.parseFrontmatter("");
  const calls = [
    () => rules.truncateIndex(),
    () => rules.truncateIndex(Buffer.from("x")),
    () => rules.parseFrontmatter(null),
    () => rules.projectSlug(1),
    () => rules.formatManifest({}),
    () => rules.formatManifest([null]),
    () => rules.formatManifest([header]),
    () => rules.formatManifest([{ ...memory(), mtimeMs: 1.5 }]),
    () => rules.formatManifest([{ ...memory(), mtimeMs: "1" }]),
    () => rules.formatManifest([{ ...memory(), type: "other" }]),
    () => rules.validateMemoryPath("/a/b"),
    () => rules.validateMemoryPath("/a/b", { platform: "linux" }),
    () => rules.validateMemoryPath("/a/b", { platform: "posix", home: 1 }),
    () => rules.validateMemoryPath("/a/b", { platform: "posix", other: 1 }),
    () => rules.teamDelta([], {}),
    () => rules.teamDelta({ a: 1 }, {}),
    () => rules.teamDelta({}),
    () => rules.encodeToolRequest(model()),
    () => rules.encodeToolRequest(model(), { purpose: "p" }),
    () => rules.encodeToolRequest({ name: "function" }, toolRequest()),
    () => rules.encodeToolRequest(model(), { ...toolRequest(), other: 1 }),
    () => rules.encodeToolRequest(model(), { ...toolRequest(), maxTokens: -1 }),
    () => rules.encodeToolRequest(model(), { ...toolRequest(), maxTokens: 5n }),
    () => rules.encodeToolRequest(model(), { ...toolRequest(), prefix: "[]" }),
    () => rules.encodeToolRequest(model(), { ...toolRequest(), turns: [{ answer: "x", results: [] }] }),
    () => rules.decodeToolAnswer("bedrock/x", 200, "{}"),
    () => rules.decodeToolAnswer("openai/x", 70_000, "{}"),
    () => rules.decodeToolAnswer("openai/x", 200),
    () => rules.conversationText(),
    () => rules.conversationText([{}]),
    () => rules.decideExtraction(),
    () => rules.decideExtraction([], null, extractionGate()),
    () => rules.decideExtraction([], { cursor: null }, extractionGate()),
    () => rules.decideExtraction([], { cursor: null, turns: 0 }, {}),
    () => rules.decideExtraction([], { cursor: null, turns: 0 }, { ...extractionGate(), agent: "other" }),
    () => rules.decideExtraction([], { cursor: null, turns: 0 }, { ...extractionGate(), every: 0.5 }),
    () => rules.decideExtraction([{}], { cursor: null, turns: 0 }, extractionGate()),
    () => rules.decideExtraction({}, { cursor: null, turns: 0 }, extractionGate()),
    () => rules.parseTranscript(),
    () => rules.parseTranscript([]),
    () => rules.sessionNotesDue(),
    () => rules.sessionNotesDue({ tokens: 1 }),
    () => rules.sessionNotesDue({ tokens: -1, toolCalls: 0 }),
    () => rules.sessionNotesDue({ tokens: 1, toolCalls: 0, naturalBreak: 1 }),
    () => rules.sessionNotesDue({ tokens: 1, toolCalls: 0, other: 1 }),
    () => rules.measureNotes(),
    () => rules.notesAreEmpty(""),
    () => rules.estimateTokens(5),
    () => rules.fillTemplate("x"),
    () => rules.fillTemplate("x", { currentNotes: "x" }),
    () => rules.compactionCut(),
    () => rules.compactionCut({ messages: [] }),
    () => rules.compactionCut({ messages: [{}], notes: "x", template: "" }),
    () => rules.compactionCut({ messages: [], template: "", boundary: 1.5 }),
    () => rules.decideDream(),
    () => rules.decideDream({ ...dreamGate(), dream: undefined }),
    () => rules.decideDream({ ...dreamGate(), nowMs: 0.5 }),
    () => rules.decideDream({ ...dreamGate(), sessions: -1 }),
    () => rules.decideDream({ ...dreamGate(), other: 1 }),
    () => rules.lockIsHeld(),
    () => rules.lockIsHeld({ nowMs: 0, mtimeMs: 0 }),
    () => rules.lockIsHeld({ nowMs: 0, mtimeMs: 0, body: "1", alive: "yes" }),
    () => rules.parseInstructions(),
    () => rules.parseInstructions(null),
    () => rules.resolveImport("a.md", "/p/CLAUDE.md"),
    () => rules.resolveImport("a.md", "/p/CLAUDE.md", { platform: "linux" }),
    () => rules.resolveImport("a.md", null, { platform: "posix" }),
    () => rules.resolveImport("a.md", "/p/CLAUDE.md", { platform: "posix", home: 1 }),
    () => rules.ruleApplies("*.ts", "a.ts"),
    () => rules.ruleApplies(["*.ts"]),
    () => rules.instructionPlaces(),
    () => rules.instructionPlaces({ ...places(), platform: "linux" }),
    () => rules.instructionPlaces({ ...places(), user: undefined }),
    () => rules.instructionPlaces({ ...places(), managed: "/etc" }),
    () => rules.instructionPlaces({ ...places(), cwd: 1 }),
    () => rules.instructionPlaces({ ...places(), other: 1 }),
    () => rules.instructionsExcluded("**", ["/a"], { platform: "posix" }),
    () => rules.instructionsExcluded(["**"], "/a", { platform: "posix" }),
    () => rules.instructionsExcluded(["**"], ["/a"]),
    () => rules.readOnlyCommand(),
    () => rules.readOnlyCommand(["ls"]),
    () => rules.teamRepository(),
    () => rules.teamRepository(null),
    () => rules.teamReconcile({}, {}, {}),
    () => rules.teamReconcile({}, { a: 1 }, {}, {}),
    () => rules.teamReconcile(null, {}, {}, {}),
    () => rules.mergeTeamIndex(null, "x"),
    () => rules.mergeTeamIndex(1, "", ""),
    () => rules.mergeTeamIndex("", null, ""),
    () => rules.retryPauseMs(),
    () => rules.retryPauseMs(0),
    () => rules.retryPauseMs(-1, 0),
    () => rules.retryPauseMs(0, 256),
    () => rules.retryPauseMs(0, 0.5),
    () => rules.retryPauseMs(0, 0, 3),
    () => rules.batchEntries({ a: "b" }, { maxBytes: -1 }),
    () => rules.batchEntries({ a: "b" }, { maxBytes: 1.5 }),
    () => rules.batchEntries({ a: "b" }, { maxBytes: Number.NaN }),
    () => rules.batchEntries({ a: "b" }, 5),
    () => rules.injectiveKey(),
    () => rules.envFlag(true),
    () => rules.memoryEnabled(),
    () => rules.memoryEnabled({ A: 1 }),
    () => rules.memoryEnabled({}, { user: "yes" }),
    () => rules.memoryEnabled({}, { users: true }),
    () => rules.chooseDirectory(),
    () => rules.chooseDirectory({ ...question(), platform: "linux" }),
    () => rules.chooseDirectory({ ...question(), home: 1 }),
    () => rules.chooseDirectory({ ...question(), env: undefined }),
    () => rules.chooseDirectory({ ...question(), settings: { user: true } }),
    () => rules.chooseDirectory({ ...question(), settings: { other: "/x" } }),
    () => rules.chooseDirectory({ ...question(), projectRoot: null }),
    () => rules.parseSettings({}),
    () => rules.memoryAge({}),
    () => rules.memoryAge({ mtimeMs: 0, nowMs: 1.5 }),
    () => rules.memoryAge({ mtimeMs: 0, nowMs: Number.NaN }),
    () => rules.memoryAge({ mtimeMs: 0n, nowMs: 0 }),
    () => rules.memoryAge({ mtimeMs: 0, modifiedMs: "1", nowMs: 0 }),
    () => rules.defaultScope("other", { team: true }),
    () => rules.defaultScope("user"),
    () => rules.defaultScope("user", { team: "yes" }),
    () => rules.lintMemories(),
    () => rules.lintMemories({}),
    () => rules.lintMemories({ memories: {} }),
    () => rules.lintMemories({ memories: [{ path: "a.md" }] }),
    () => rules.lintMemories({ memories: [{ path: "a.md", text: "", other: 1 }] }),
    () => rules.lintMemories({ index: 1, memories: [] }),
    () => rules.memoryFileName(),
    () => rules.memoryFileName("user"),
    () => rules.memoryFileName("other", "x"),
    () => rules.memoryFileName("user", "x", -1),
    () => rules.memoryFileName("user", "x", "2"),
    () => rules.updateMemory("x"),
    () => rules.updateMemory(1, {}),
    () => rules.updateMemory(null, []),
    () => rules.updateMemory(null, { name: 1 }),
    () => rules.updateMemory(null, { name: " " }),
    () => rules.updateMemory(null, { type: "other" }),
    () => rules.updateMemory(null, { modified: "yesterday" }),
    () => rules.updateMemory(null, { title: "x" }),
    () => rules.updateIndex(null, "", "a.md"),
    () => rules.updateIndex(1, "", "a.md", null),
    () => rules.updateIndex(null, null, "a.md", null),
    () => rules.updateIndex(null, "", undefined, null),
    () => rules.updateIndex(null, "", "a.md", {}),
    () => rules.updateIndex(null, "", "a.md", { name: null }),
    () => rules.updateIndex(null, "", "a.md", { name: "a", description: 1 }),
    () => rules.updateIndex(null, "", "a.md", { name: "a", hook: "x" }),
    () => rules.tokenize(1),
    () => rules.rankMemories("x"),
    () => rules.rankMemories("x", [undefined]),
    () => rules.rankMemories("x", [{ path: "a.md" }]),
    () => rules.rankMemories("x", [{ path: "a.md", text: "", uses: -1 }]),
    () => rules.rankMemories("x", [{ path: "a.md", text: "", ageDays: 0.5 }]),
    () => rules.rankMemories("x", [{ path: "a.md", text: "", age: 1 }]),
    () => rules.cutMemory("x", 1, "/a.md"),
    () => rules.cutMemory("x", -1, "/a.md", 1),
    () => rules.cutMemory("x", 1, null, 1),
    () => rules.grantBytes("1", []),
    () => rules.grantBytes(0, [1.5]),
    () => rules.grantBytes(0, [2 ** 53]),
    () => rules.grantBytes(0, {}),
    () => rules.readSelection("x"),
    () => rules.readSelection("x", [1]),
    () => rules.recentTools([{ ok: true }]),
    () => rules.recentTools([{ tool: "a", ok: 1 }]),
    () => rules.recentTools("a"),
    () => rules.encodeModelRequest(model()),
    () => rules.encodeModelRequest(undefined, request()),
    () => rules.encodeModelRequest({ ...model(), apiKey: 1 }, request()),
    () => rules.encodeModelRequest({ ...model(), key: "x" }, request()),
    () => rules.encodeModelRequest(model(), { ...request(), messages: [{ role: "system", content: "" }] }),
    () => rules.encodeModelRequest(model(), { ...request(), messages: [{ role: "user", content: "", name: "x" }] }),
    () => rules.encodeModelRequest(model(), { ...request(), messages: [{ role: "user" }] }),
    () => rules.encodeModelRequest(model(), { ...request(), maxTokens: "5" }),
    () => rules.encodeModelRequest(model(), { ...request(), schema: "{}" }),
    () => rules.encodeModelRequest(model(), { ...request(), schema: deep(1000) }),
    () => rules.decodeModelAnswer("openai/x", 200),
    () => rules.decodeModelAnswer("openai/x", 2 ** 16, ""),
    () => rules.decodeModelAnswer("openai/x", "200", ""),
  ];
  for (const call of calls) {
    assert.throws(call, (error) => error instanceof MemdirError && error.code === "invalid-argument", String(call));
  }
});

test("half a surrogate pair is refused wherever text enters", () => {
  const bad = "ab\u{1F600}\ud800c";
  const calls = [
    () => rules.truncateIndex(bad),
    () => rules.parseFrontmatter(bad),
    () => rules.projectSlug(bad),
    () => rules.formatManifest([memory(), { ...memory(), description: bad }]),
    () => rules.validateMemoryPath(bad, { platform: "posix" }),
    () => rules.validateMemoryPath("~/x", { platform: "posix", home: bad }),
    () => rules.teamDelta({ [bad]: "x" }, {}),
    () => rules.teamDelta({ a: bad }, {}),
    () => rules.teamDelta({}, { a: bad }),
    () => rules.batchEntries({ a: bad }),
    () => rules.parseInstructions(bad),
    () => rules.resolveImport(bad, "/p/CLAUDE.md", { platform: "posix" }),
    () => rules.resolveImport("~/a", "/p/CLAUDE.md", { platform: "posix", home: bad }),
    () => rules.ruleApplies(["*", bad], "a"),
    () => rules.ruleApplies(["*"], bad),
    () => rules.instructionPlaces({ ...places(), cwd: bad }),
    () => rules.instructionPlaces({ ...places(), additional: [bad] }),
    () => rules.instructionsExcluded([bad], [], { platform: "posix" }),
    () => rules.readOnlyCommand(`ls ${bad}`),
    () => rules.teamRepository(bad),
    () => rules.teamReconcile({ a: bad }, {}, {}, {}),
    () => rules.teamReconcile({}, {}, {}, { [bad]: "x" }),
    () => rules.mergeTeamIndex(bad, "", ""),
    () => rules.mergeTeamIndex(null, "", bad),
    () => rules.retryPauseMs(0, 0, bad),
    () => rules.injectiveKey(bad),
    () => rules.envFlag(bad),
    () => rules.memoryEnabled({ A: bad }),
    () => rules.chooseDirectory({ ...question(), home: bad }),
    () => rules.chooseDirectory({ ...question(), env: { [bad]: "x" } }),
    () => rules.chooseDirectory({ ...question(), settings: { user: bad } }),
    () => rules.chooseDirectory({ ...question(), projectRoot: bad }),
    () => rules.parseSettings(bad),
    () => rules.lintMemories({ index: bad, memories: [] }),
    () => rules.lintMemories({ memories: [{ path: "a.md", text: bad }] }),
    () => rules.memoryFileName("user", bad),
    () => rules.updateMemory(bad, {}),
    () => rules.updateMemory(null, { name: bad }),
    () => rules.updateMemory(null, { body: bad }),
    () => rules.updateIndex(bad, "", "a.md", null),
    () => rules.updateIndex(null, "", bad, null),
    () => rules.updateIndex(null, "", "a.md", { name: "a", description: bad }),
    () => rules.tokenize(bad),
    () => rules.rankMemories(bad, []),
    () => rules.rankMemories("x", [{ path: bad, text: "" }]),
    () => rules.cutMemory(bad, 1, "/a.md", 1),
    () => rules.cutMemory("x", 1, bad, 1),
    () => rules.readSelection(bad, []),
    () => rules.readSelection("x", [bad]),
    () => rules.recentTools([{ tool: bad }]),
    () => rules.encodeModelRequest({ ...model(), apiKey: bad }, request()),
    () => rules.encodeModelRequest(model(), { ...request(), system: bad }),
    () => rules.encodeModelRequest(model(), { ...request(), messages: [{ role: "user", content: bad }] }),
    () => rules.encodeModelRequest(model(), { ...request(), schema: { a: [bad] } }),
    () => rules.decodeModelAnswer("openai/x", 200, bad),
  ];
  for (const call of calls) {
    assert.throws(call, (error) => error.code === "invalid-text" && error.family === "input", String(call));
  }
  assert.throws(() => rules.truncateIndex(bad), /at position 4;/);
  assert.equal(rules.truncateIndex("\u{1F600}").content, "\u{1F600}");
});

test("the table of errors is closed, and the types list the same codes", () => {
  const table = rules.errorTable();
  const codes = table.map(({ code }) => code);
  assert.equal(new Set(codes).size, codes.length);
  for (const row of table) {
    assert.deepEqual(Object.keys(row), ["code", "family", "example"]);
    assert.ok(FAMILIES.includes(row.family));
    assert.ok(row.example.length > 10);
  }
  assert.deepEqual(union("ErrorCode"), codes);
  assert.deepEqual(union("ErrorFamily"), FAMILIES);
});

test("what a caller's getter throws is the caller's, and breaks nothing", async (t) => {
  // Where each look may be the one that throws.
  const throwing = (fields, after) => {
    let looks = 0;
    const get = (target, key) => {
      looks += 1;
      if (looks > after) {
        throw new RangeError("mine");
      }
      return target[key];
    };
    return new Proxy(fields, { get });
  };
  const memdir = await Memdir.open({ directory: folder(t) });
  const calls = [
    (after) => rules.formatManifest([throwing(memory(), after)]),
    (after) => rules.formatManifest(throwing([memory()], after)),
    (after) => rules.formatManifest([{ ...memory(), name: throwing({}, after) }]),
    (after) => rules.teamDelta(throwing({ a: "1" }, after), {}),
    (after) => rules.batchEntries(throwing({ a: "1" }, after)),
    (after) => rules.teamReconcile({}, throwing({ a: "1" }, after), {}, throwing({}, after)),
    (after) => rules.memoryEnabled(throwing({ A: "1" }, after), throwing({ user: true }, after)),
    (after) => rules.chooseDirectory(throwing({ ...question(), env: throwing({ A: "1" }, after) }, after)),
    (after) => rules.lintMemories(throwing({ memories: [throwing({ path: "a.md", text: "x" }, after)] }, after)),
  ];
  for (const call of calls) {
    for (let after = 0; after < 30; after += 1) {
      try {
        call(after);
      } catch (error) {
        const own = error instanceof RangeError && error.message === "mine";
        assert.ok(own || error.code === "invalid-argument", `${call} after ${after}: ${error}`);
      }
    }
  }
  // Its instance of the core is still in use.
  assert.deepEqual(await memdir.scan(), { memories: [], report: [] });
});

/** The members of a union of strings in the types that users get. */
function union(name) {
  const types = readFileSync(new URL("../dist/types.d.ts", import.meta.url), "utf8");
  const [, members] = new RegExp(`export type ${name} =([^;]*);`).exec(types);
  return [...members.matchAll(/"([^"]+)"/g)].map(([, member]) => member);
}

function toolRequest() {
  return { purpose: "p", prefix: null, system: "s", tools: [], prompt: "Go.", turns: [], maxTokens: 1 };
}

function places() {
  return { platform: "posix", user: true, project: true, local: true };
}

function dreamGate() {
  return { dream: true, enabled: true, remote: false, dailyLog: false, nowMs: 0 };
}

function extractionGate() {
  const places = { platform: "posix", store: "/m/", configHome: null, agents: [], overridden: false };
  const flags = { interactive: true, remote: false, extract: true, extractNonInteractive: false, running: false, trailing: false };
  return { agent: "main", every: 1, places, ...flags };
}

function question() {
  return { platform: "posix", home: "/home/u", env: {}, settings: {}, projectRoot: "/home/u/p" };
}

function memory() {
  return {
    path: "a.md",
    name: null,
    description: null,
    type: null,
    scope: "private",
    pinned: false,
    modifiedMs: null,
    mtimeMs: 0,
    size: 1,
  };
}

function model() {
  return { name: "openai/x", apiKey: "secret", baseUrl: "https://example.com/v1" };
}

function request() {
  return { purpose: "p", system: "s", messages: [{ role: "user", content: "c\0\u{1F600}" }], maxTokens: 5, schema: null };
}

function deep(levels) {
  let value = {};
  for (let level = 0; level < levels; level += 1) {
    value = { value };
  }
  return value;
}
