// The memory tool: every command and every error over a real folder, and the SDK that it is made for.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Memdir, MemdirError } from "memdir";

import { code, folder, memory, store } from "./support/folders.mjs";
import { bodyOf, serve } from "./support/servers.mjs";
import { githubToken } from "./support/tokens.mjs";

/** A store with these files, and its tool. */
async function opened(t, files = {}) {
  const path = store(t, files);
  const memdir = await Memdir.open({ directory: path, home: null, env: {} });
  return { memdir, tool: memdir.tool(), path, text: (name) => readFileSync(join(path, name), "utf8") };
}

test("view: a file with numbers, a part of it, a folder with sizes", async (t) => {
  const { tool, path } = await opened(t, { "a.md": "one\ntwo\nthree\n", ".hidden": "x" });
  mkdirSync(join(path, "api"));
  writeFileSync(join(path, "api/limits.md"), "x".repeat(2048));
  assert.equal(await tool.view({ path: "/memories/a.md" }), "/memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n");
  assert.match(await tool.view({ path: "/memories/a.md", view_range: [2, -1] }), /:\n {5}2\ttwo\n {5}3\tthree\n$/);
  const whole = await tool.view({ path: "/memories" });
  assert.deepEqual(whole.split("\n").slice(1, -1), ["2.0KB\t/memories", "14B\t/memories/a.md", "2.0KB\t/memories/api/", "2.0KB\t/memories/api/limits.md"]);
  assert.equal(await tool.view({ path: "/memories/" }), whole);
  for (const view_range of [[4, 5], [0, 1], [3, 2], [1], "all"]) {
    await assert.rejects(tool.view({ path: "/memories/a.md", view_range }), code("invalid-argument"));
  }
  // Of a folder, a range counts the entries.
  assert.deepEqual((await tool.view({ path: "/memories", view_range: [2, 3] })).split("\n").slice(1, -1), ["2.0KB\t/memories", "2.0KB\t/memories/api/", "2.0KB\t/memories/api/limits.md"]);
  await assert.rejects(tool.view({ path: "/memories", view_range: [4, 5] }), code("invalid-argument"));
  await assert.rejects(tool.view({ path: "/memories/b.md" }), code("not-found"));
});

test("view: a store that is not there is empty, and stays so", async (t) => {
  const directory = join(folder(t), "memory");
  const memdir = await Memdir.open({ directory });
  assert.match(await memdir.tool().view({ path: "/memories" }), /\n0B\t\/memories\n$/);
  assert.equal(existsSync(directory), false);
});

test("view: a folder of 10,000 files", async (t) => {
  const { tool, path } = await opened(t);
  for (let index = 0; index < 10_000; index += 1) {
    writeFileSync(join(path, `note_${index}.md`), "x");
  }
  const lines = (await tool.view({ path: "/memories" })).trimEnd().split("\n");
  assert.equal(lines.length, 1003, "head, folder, a thousand files, and what is not shown");
  assert.match(lines.at(-1), /entries 1001 to 10000 .* view_range/);
  const rest = (await tool.view({ path: "/memories", view_range: [9_901, -1] })).trimEnd().split("\n");
  assert.deepEqual([rest.length, rest.at(-1)], [102, "1B\t/memories/note_9999.md"]);
});

test("create: a new file, also in a new folder", async (t) => {
  const { memdir, tool, text } = await opened(t);
  assert.equal(await tool.create({ path: "/memories/api/limits.md", file_text: "é\r\n" }), "Created /memories/api/limits.md.");
  assert.equal(text("api/limits.md"), "é\r\n");
  await assert.rejects(tool.create({ path: "/memories/api/limits.md", file_text: "x" }), code("exists"));
  await assert.rejects(tool.create({ path: "/memories/api", file_text: "x" }), code("is-a-directory"));
  await assert.rejects(tool.create({ path: "/memories/api/limits.md/x.md", file_text: "x" }), code("not-a-directory"));
  await assert.rejects(tool.create({ path: "/memories", file_text: "x" }), code("path-empty"));
  await assert.rejects(tool.create({ path: "/memories/a/", file_text: "x" }), code("invalid-argument"));
  await assert.rejects(tool.create({ path: "/memories/a.md", file_text: "a\0b" }), code("invalid-text"));
  assert.equal(text("api/limits.md"), "é\r\n");
  assert.deepEqual((await memdir.scan()).memories.map(({ path }) => path), ["api/limits.md"]);
});

test("str_replace: exactly one place", async (t) => {
  const { tool, text } = await opened(t, { "a.md": "one\ntwo\nthree\ntwo\n", "crlf.md": "a\r\nb\r\nc\r\n" });
  const replace = (name, old_str, new_str) => tool.str_replace({ path: `/memories/${name}`, old_str, new_str });
  await assert.rejects(replace("a.md", "two", "2"), (error) => code("invalid-argument")(error) && /lines 2, 4/.test(error.message));
  await assert.rejects(replace("a.md", "four", "4"), code("invalid-argument"));
  await assert.rejects(replace("a.md", "", "4"), code("invalid-argument"));
  await assert.rejects(replace("b.md", "two", "2"), code("not-found"));
  assert.match(await replace("a.md", "one\ntwo", "1\n2"), /^Edited \/memories\/a\.md:\n {5}1\t1\n {5}2\t2\n/);
  assert.equal(text("a.md"), "1\n2\nthree\ntwo\n");
  await replace("a.md", "three\n", undefined);
  assert.equal(text("a.md"), "1\n2\ntwo\n", "nothing in its place");
  await replace("crlf.md", "a\nb", "x\ny\nz");
  assert.equal(text("crlf.md"), "x\r\ny\r\nz\r\nc\r\n", "line ends stay what they are");
  await replace("a.md", "two", "$& $1");
  assert.equal(text("a.md"), "1\n2\n$& $1\n", "nothing in a text is special");
});

test("insert: after a line, and no further than the end", async (t) => {
  const { tool, text } = await opened(t, { "a.md": "one\ntwo", "crlf.md": "a\r\nb\r\n", "empty.md": "" });
  const insert = (name, insert_line, insert_text) => tool.insert({ path: `/memories/${name}`, insert_line, insert_text });
  for (const line of [3, -1, 1.5, 2 ** 60, 2 ** 70, NaN, "1", true, undefined]) {
    await assert.rejects(insert("a.md", line, "x"), code("invalid-argument"), String(line));
  }
  await insert("a.md", 0, "zero\n");
  await insert("a.md", 3, "three");
  assert.equal(text("a.md"), "zero\none\ntwo\nthree");
  await insert("crlf.md", 1, "x\ny");
  assert.equal(text("crlf.md"), "a\r\nx\r\ny\r\nb\r\n");
  await insert("empty.md", 0, "first");
  assert.equal(text("empty.md"), "first\n");
  await assert.rejects(insert("b.md", 0, "x"), code("not-found"));
});

test("delete: to the trash, and never the root", async (t) => {
  const { memdir, tool, path } = await opened(t, { "a.md": memory("a"), "MEMORY.md": "- [a](a.md)\n" });
  await tool.create({ path: "/memories/api/limits.md", file_text: "x" });
  for (const root of ["/memories", "/memories/"]) {
    await assert.rejects(tool.delete({ path: root }), code("invalid-argument"));
  }
  assert.equal(await tool.delete({ path: "/memories/api" }), "Deleted /memories/api.");
  assert.equal(await tool.delete({ path: "/memories/a.md" }), "Deleted /memories/a.md.");
  await assert.rejects(tool.delete({ path: "/memories/a.md" }), code("not-found"));
  assert.deepEqual(readdirSync(path).sort(), [".memdir", "MEMORY.md"]);
  assert.equal((await memdir.undoForget("a.md")).outcome, "written");
  assert.equal((await memdir.undoForget("api/limits.md")).outcome, "written");
  assert.equal((await memdir.read("a.md")).content, memory("a"));
});

test("rename: with its line in the index, and onto nothing", async (t) => {
  const { tool, path, text } = await opened(t, { "a.md": memory("a"), "b.md": "b", "MEMORY.md": "- [a](a.md)\n" });
  const rename = (from, to) => tool.rename({ old_path: `/memories/${from}`, new_path: `/memories/${to}` });
  await assert.rejects(rename("a.md", "b.md"), code("exists"));
  await assert.rejects(rename("a.md", "b.md/c.md"), code("not-a-directory"));
  await assert.rejects(rename("c.md", "d.md"), code("not-found"));
  await assert.rejects(rename("", "d"), code("invalid-argument"));
  assert.equal(text("b.md"), "b");
  assert.equal(await rename("a.md", "deep/er/a.md"), "Renamed /memories/a.md to /memories/deep/er/a.md.");
  assert.deepEqual([text("deep/er/a.md"), text("MEMORY.md")], [memory("a"), "- [a](deep/er/a.md)\n"]);
  await rename("deep", "shallow");
  assert.equal(text("shallow/er/a.md"), memory("a"));
  assert.deepEqual(readdirSync(path).sort(), [".memdir", "MEMORY.md", "b.md", "shallow"]);
});

test("what lies outside, and memdir's own files, no command touches", async (t) => {
  const root = folder(t);
  const directory = join(root, "memory");
  for (const name of ["x", "x.md"]) {
    writeFileSync(join(root, name), "outside");
  }
  const memdir = await Memdir.open({ directory, home: null, env: {} });
  const tool = memdir.tool();
  await tool.create({ path: "/memories/a.md", file_text: "a" });
  const outside = ["/memoriesX/a.md", "/memories/../x", "/memories/../x.md", "/memories//a.md", "/memories/./a.md", "/etc/passwd", "a.md", ""];
  for (const path of [...outside, "/memories/.memdir/.gitignore"]) {
    const attempts = [
      () => tool.view({ path }),
      () => tool.create({ path, file_text: "x" }),
      () => tool.str_replace({ path, old_str: "outside", new_str: "x" }),
      () => tool.insert({ path, insert_line: 0, insert_text: "x" }),
      () => tool.delete({ path }),
      () => tool.rename({ old_path: path, new_path: "/memories/b.md" }),
      () => tool.rename({ old_path: "/memories/a.md", new_path: path }),
    ];
    for (const attempt of attempts) {
      await assert.rejects(attempt, code("path-outside-store"), `${attempt} ${path}`);
    }
  }
  assert.deepEqual([readFileSync(join(root, "x"), "utf8"), readFileSync(join(root, "x.md"), "utf8")], ["outside", "outside"]);
  assert.deepEqual(readdirSync(directory).sort(), [".memdir", "a.md"]);
});

test("delete does not tell what lies outside", async (t) => {
  const { tool, path } = await opened(t);
  mkdirSync(join(path, "a"));
  for (const outside of ["/memories/../gone", "/memories/../", "/memories/a/..", "/memories/.memdir/gone"]) {
    await assert.rejects(tool.delete({ path: outside }), code("path-outside-store"), outside);
  }
});

test("nothing is written that could not be read again", async (t) => {
  const { tool } = await opened(t, { "a.md": "x".repeat(2 ** 22) });
  await assert.rejects(tool.create({ path: "/memories/b.md", file_text: "x".repeat(2 ** 22 + 1) }), code("too-large"));
  await assert.rejects(tool.insert({ path: "/memories/a.md", insert_line: 0, insert_text: "x" }), code("too-large"));
});

test("a folder that is moved into itself", async (t) => {
  const { tool, path } = await opened(t);
  mkdirSync(join(path, "a"));
  await assert.rejects(tool.rename({ old_path: "/memories/a", new_path: "/memories/a/b/c" }), code("invalid-argument"));
  assert.deepEqual(readdirSync(join(path, "a")), []);
});

test("a file that is no UTF-8 text is shown and changed by nothing, and can be deleted", async (t) => {
  const latin = Buffer.from([0x63, 0xe9]);
  const { tool, path } = await opened(t, { "latin.md": latin });
  const at = { path: "/memories/latin.md" };
  await assert.rejects(tool.view(at), code("not-text"));
  await assert.rejects(tool.str_replace({ ...at, old_str: "c", new_str: "d" }), code("not-text"));
  await assert.rejects(tool.insert({ ...at, insert_line: 0, insert_text: "d" }), code("not-text"));
  assert.deepEqual(readFileSync(join(path, "latin.md")), latin);
  await tool.delete(at);
  assert.deepEqual(readdirSync(path), [".memdir"]);
});

test("a team memory holds no secret and nothing about a person", async (t) => {
  const { tool, path } = await opened(t);
  const token = githubToken();
  const create = (file, file_text) => tool.create({ path: `/memories/team/${file}`, file_text });
  await assert.rejects(create("a.md", `token: ${token}\n`), (error) => code("secret-found")(error) && !error.message.includes(token));
  await assert.rejects(create("a.md", "---\nname: x\ntype: user\n---\n"), code("user-private"));
  await tool.create({ path: "/memories/a.md", file_text: `token: ${token}\n` });
  await assert.rejects(tool.rename({ old_path: "/memories/a.md", new_path: "/memories/team/a.md" }), code("secret-found"));
  await create("b.md", "x\n");
  await assert.rejects(tool.insert({ path: "/memories/team/b.md", insert_line: 1, insert_text: token }), code("secret-found"));
  assert.deepEqual(readdirSync(join(path, "team")), ["b.md"]);
});

test("arguments that are none", async (t) => {
  const { memdir, tool } = await opened(t);
  for (const command of [undefined, null, {}, "view", { path: 5 }, { path: ["/memories"] }, { path: { toString: () => "/memories" } }]) {
    await assert.rejects(tool.view(command), code("invalid-argument"));
  }
  await assert.rejects(tool.view({ path: "/memories/\ud800" }), code("invalid-text"));
  await assert.rejects(tool.delete({ command: "view", path: "/memories" }), code("invalid-argument"), "the handler decides, not the name inside");
  assert.throws(() => memdir.tool({ sign: null }), code("invalid-argument"));
  await assert.rejects(memdir.tool({ signal: AbortSignal.abort() }).view({ path: "/memories" }), code("aborted"));
  await memdir.close();
  await assert.rejects(tool.view({ path: "/memories" }), code("closed"));
});

test("memory that is off", async (t) => {
  const directory = store(t, { "a.md": memory("a") });
  const memdir = await Memdir.open({ directory, home: null, env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } });
  await assert.rejects(memdir.tool().view({ path: "/memories/a.md" }), code("disabled"));
  await assert.rejects(memdir.tool().create({ path: "/memories/b.md", file_text: "x" }), code("disabled"));
  assert.deepEqual(readdirSync(directory), ["a.md"]);
});

/** A server that plays the Messages API: one answer after the other; and the requests that it got. */
async function playing(t, answers) {
  const requests = [];
  const baseURL = await serve(t, async (request, response) => {
    requests.push(JSON.parse(await bodyOf(request)));
    const content = answers[requests.length - 1];
    const message = {
      id: `msg_${requests.length}`,
      type: "message",
      role: "assistant",
      model: "some-model",
      content,
      stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
  });
  return { client: new Anthropic({ apiKey: "test", baseURL, maxRetries: 0 }), requests };
}

/** Lets the SDK run the conversation to its end; gives what the tool answered in each turn. */
async function converse(t, tool, turns) {
  const uses = turns.map((commands, turn) =>
    commands.map((input, index) => ({ type: "tool_use", id: `toolu_${turn}_${index}`, name: "memory", input })),
  );
  const { client, requests } = await playing(t, [...uses, [{ type: "text", text: "Done." }]]);
  const last = await client.beta.messages.toolRunner({
    model: "some-model",
    max_tokens: 1000,
    messages: [{ role: "user", content: "Remember this." }],
    tools: [betaMemoryTool(tool)],
  });
  assert.deepEqual(last.content.map(({ text }) => text), ["Done."]);
  assert.deepEqual(requests[0].tools, [{ type: "memory_20250818", name: "memory" }]);
  return requests.slice(1).map(({ messages }) => messages.at(-1).content);
}

test("the SDK: 20 inserts into one file at the same time are all kept", async (t) => {
  const { tool, text } = await opened(t, { "a.md": "first\n" });
  const facts = Array.from({ length: 20 }, (_, index) => `fact ${index}`);
  const inserts = facts.map((fact) => ({ command: "insert", path: "/memories/a.md", insert_line: 1, insert_text: fact }));
  const [results] = await converse(t, tool, [inserts]);
  assert.equal(results.length, 20);
  assert.ok(results.every(({ is_error }) => !is_error), JSON.stringify(results[0]));
  const lines = text("a.md").trimEnd().split("\n");
  assert.equal(lines[0], "first");
  assert.deepEqual(lines.slice(1).sort(), facts.sort());
});

test("the SDK: every command, and an error is text for the model", async (t) => {
  const { tool, path } = await opened(t);
  const at = "/memories/a.md";
  const turns = [
    { command: "view", path: "/memories" },
    { command: "create", path: at, file_text: "one\n" },
    { command: "str_replace", path: at, old_str: "one", new_str: "two" },
    { command: "insert", path: at, insert_line: 1, insert_text: "three" },
    { command: "view", path: "/memories/../x" },
    { command: "rename", old_path: at, new_path: "/memories/b.md" },
    { command: "delete", path: "/memories/b.md" },
  ];
  const results = (await converse(t, tool, turns.map((command) => [command]))).flat();
  assert.deepEqual(results.map(({ is_error = false }) => is_error), turns.map(({ path }) => path === "/memories/../x"));
  assert.match(JSON.stringify(results[3].content), /three/);
  assert.match(JSON.stringify(results[4].content), /not a path inside the store/);
  assert.deepEqual(readdirSync(path), [".memdir"]);
});

test("the SDK: texts of several lines, other line ends, other alphabets, and what is no text", async (t) => {
  const latin = Buffer.from([0x63, 0xe9]);
  const files = { "a.md": "один\r\nдва\r\n三\r\n", "twice.md": "a\nb\na\nb\n", "latin.md": latin };
  const { tool, path, text } = await opened(t, files);
  const replace = (name, old_str, new_str) => ({ command: "str_replace", path: `/memories/${name}`, old_str, new_str });
  const insert = { command: "insert", path: "/memories/a.md", insert_line: 2, insert_text: "👩 x\ny" };
  const turns = [replace("a.md", "один\nдва", "é\nü"), insert, replace("twice.md", "a\nb", "c"), replace("latin.md", "c", "d")];
  const results = (await converse(t, tool, turns.map((command) => [command]))).flat();
  assert.deepEqual(results.map(({ is_error = false }) => is_error), [false, false, true, true]);
  assert.equal(text("a.md"), "é\r\nü\r\n👩 x\r\ny\r\n三\r\n");
  assert.equal(text("twice.md"), files["twice.md"]);
  assert.deepEqual(readFileSync(join(path, "latin.md")), latin);
});

test("the errors of the tool are those of memdir, with the file that they are about", async (t) => {
  const { tool } = await opened(t, { "a.md": "a\n" });
  const error = await tool.create({ path: "/memories/a.md", file_text: "x" }).catch((error) => error);
  assert.ok(error instanceof MemdirError);
  assert.deepEqual([error.code, error.family, error.path], ["exists", "host", "a.md"]);
});
