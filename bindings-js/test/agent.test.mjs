// The memory of an agent: where it is by scope and name, that nothing is made too early, and what an agent
// may do with the paths of it.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Memdir } from "memdir";
import { classifyPath, classifyToolCall, mayWrite, summariseToolCalls } from "memdir/rules";

import { code, folder } from "./support/folders.mjs";
import { repository } from "./support/git.mjs";

const NOTE = { type: "feedback", name: "Style", description: "how reviews are written", body: "Short reviews." };

/** A repository, a config home of its own, and the project's store, opened in `sub/folder` of it. */
async function project(t, options = {}) {
  const [root, config] = [join(folder(t), "project"), folder(t)];
  repository(root);
  const cwd = join(root, "sub/folder");
  mkdirSync(cwd, { recursive: true });
  const env = { CLAUDE_CONFIG_DIR: config };
  return { root, config, cwd, env, open: () => Memdir.open({ cwd, home: null, env, ...options }) };
}

test("three scopes, three places; nothing is made before the first save", async (t) => {
  const { root, config, open } = await project(t);
  mkdirSync(join(root, ".claude"));
  const memdir = await open();
  for (const [scope, parent] of [
    ["user", join(config, "agent-memory")],
    ["project", join(root, ".claude/agent-memory")],
    ["local", join(root, ".claude/agent-memory-local")],
  ]) {
    const agent = await memdir.agent("reviewer", scope);
    assert.equal(agent.directory, join(parent, "reviewer/"));
    assert.deepEqual([agent.opened.chosenBy, agent.opened.report], ["agent", []]);
    assert.deepEqual((await agent.scan()).memories, []);
    await assert.rejects(agent.read("a.md"), code("not-found"));
    assert.match(await agent.tool().view({ path: "/memories" }), /0B/);
    assert.equal(existsSync(parent), false, scope);
    const saved = await agent.save(NOTE);
    assert.deepEqual([saved.outcome, saved.path, saved.absolutePath], ["written", "feedback_style.md", join(parent, "reviewer/feedback_style.md")]);
    assert.match(await agent.prompt(), /reviewer/);
  }
  assert.deepEqual((await memdir.scan()).memories, [], "they are not the project's own");
});

test("an index is kept where there is one already", async (t) => {
  const agent = await (await (await project(t)).open()).agent("reviewer", "local");
  assert.equal((await agent.save(NOTE)).indexChanged, false);
  assert.doesNotMatch(await agent.prompt(), /MEMORY\.md/);
  await agent.tool().create({ path: "/memories/MEMORY.md", file_text: "- [Style](feedback_style.md)\n" });
  assert.equal((await agent.save({ ...NOTE, name: "Words" })).indexChanged, true);
  agent.compacted();
  assert.match(await agent.prompt(), /\[Words\]\(feedback_words\.md\)/);
});

test("without .claude it is made at the root; the nearest one on the way there counts", async (t) => {
  const { root, open } = await project(t);
  const memdir = await open();
  assert.equal((await memdir.agent("reviewer", "project")).directory, join(root, ".claude/agent-memory/reviewer/"));
  mkdirSync(join(root, "sub/.claude"));
  assert.equal((await memdir.agent("reviewer", "project")).directory, join(root, "sub/.claude/agent-memory/reviewer/"));
});

test("it can be opened directly, and is the same", async (t) => {
  const { cwd, env, open } = await project(t);
  const agent = { name: "reviewer", scope: "local" };
  const direct = await Memdir.open({ cwd, home: null, env, agent });
  assert.deepEqual(direct.opened, (await (await open()).agent("reviewer", "local")).opened);
  for (const wrong of [{ name: "x" }, { scope: "user" }, { name: "x", scope: "team" }, { ...agent, type: "x" }, "reviewer", []]) {
    await assert.rejects(Memdir.open({ cwd, home: null, env, agent: wrong }), code("invalid-argument"), JSON.stringify(wrong));
  }
  for (const none of [null, undefined]) {
    assert.notEqual((await Memdir.open({ cwd, home: null, env, agent: none })).opened.chosenBy, "agent");
  }
});

test("names in any script, and names that are no file names, are kept apart", async (t) => {
  const { config, open } = await project(t);
  const memdir = await open();
  const names = ["plugin:reviewer", "plugin-reviewer", "plugin/reviewer", "..", ".", "../../x", "a b", "a\\b", "con", "審査員", "审查员", "рецензент", "مراجع", "🤖", "cafe\u0301", "café", "x".repeat(300), `${"x".repeat(300)}y`];
  const folders = new Set();
  for (const name of names) {
    const agent = await memdir.agent(name, "user");
    const { outcome, absolutePath } = await agent.save({ ...NOTE, body: `Of ${name}.` });
    assert.equal(outcome, "written", name);
    assert.ok(absolutePath.startsWith(join(config, "agent-memory/")), absolutePath);
    folders.add(agent.directory);
  }
  assert.equal(folders.size, names.length);
  assert.equal(readdirSync(join(config, "agent-memory")).length, names.length);
  for (const name of names) {
    const agent = await memdir.agent(name, "user");
    assert.equal((await agent.read("feedback_style.md")).body, `Of ${name}.`, "and found again");
  }
});

test("names that Claude Code has one folder for are kept apart, also when both are open before the first save", async (t) => {
  const memdir = await (await project(t)).open();
  const agents = [await memdir.agent("plugin:reviewer", "user"), await memdir.agent("plugin-reviewer", "user")];
  assert.notEqual(agents[0].directory, agents[1].directory);
  const [first, second] = [await agents[0].save(NOTE), await agents[1].save(NOTE)];
  assert.notEqual(first.absolutePath, second.absolutePath);
  const again = await memdir.agent("plugin:reviewer", "user");
  assert.equal(again.directory, agents[0].directory);
});

test("a folder that Claude Code has made belongs to the first one to write", async (t) => {
  const { config, open } = await project(t);
  mkdirSync(join(config, "agent-memory/plugin-reviewer"), { recursive: true });
  const memdir = await open();
  const agents = [await memdir.agent("plugin:reviewer", "user"), await memdir.agent("plugin-reviewer", "user")];
  assert.equal(agents[0].directory, agents[1].directory);
  assert.deepEqual(agents[0].opened.report.map(({ code }) => code), ["slug-collision"]);
  const first = await agents[0].save(NOTE);
  await assert.rejects(agents[1].save(NOTE), code("exists"));
  const again = await memdir.agent("plugin-reviewer", "user");
  assert.notEqual((await again.save(NOTE)).absolutePath, first.absolutePath);
});

test("places have the folder of an agent wherever its .claude is", async (t) => {
  const { root, open } = await project(t);
  mkdirSync(join(root, "sub/.claude"));
  const agent = await (await open()).agent("reviewer", "project");
  assert.ok(mayWrite(join(agent.directory, "a.md"), agent.opened.places));
});

test("what is no agent", async (t) => {
  const { open, cwd, env } = await project(t);
  const memdir = await open();
  for (const name of ["", "  ", 5, null, undefined]) {
    await assert.rejects(memdir.agent(name, "user"), code("invalid-argument"));
  }
  await assert.rejects(memdir.agent("a\0b", "user"), code("path-nul"));
  await assert.rejects(memdir.agent("\ud800", "user"), code("invalid-text"));
  for (const scope of ["team", "", undefined, 5]) {
    await assert.rejects(memdir.agent("x", scope), code("invalid-argument"));
  }
  await assert.rejects(memdir.agent("x", "user", { signal: AbortSignal.abort() }), code("aborted"));
  const placeless = await Memdir.open({ cwd: null, directory: join(cwd, "m"), home: null, env });
  await assert.rejects(placeless.agent("x", "project"), code("invalid-argument"));
  const homeless = await Memdir.open({ cwd, directory: join(cwd, "m"), home: null, env: {} });
  await assert.rejects(homeless.agent("x", "user"), code("no-home"));
});

test("it is closed by itself, and off when memory is", async (t) => {
  const { open, cwd, config } = await project(t);
  const memdir = await open();
  const agent = await memdir.agent("reviewer", "user");
  await memdir.close();
  assert.equal((await agent.save(NOTE)).outcome, "written");
  await agent.close();
  await assert.rejects(agent.scan(), code("closed"));
  const off = await Memdir.open({ cwd, home: null, env: { CLAUDE_CONFIG_DIR: config, CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } });
  const silent = await off.agent("reviewer", "project");
  assert.deepEqual([silent.enabled, await silent.prompt()], [false, null]);
  await assert.rejects(silent.save(NOTE), code("disabled"));
});

test("places tell what an agent does with memory", async (t) => {
  const { open } = await project(t);
  const memdir = await open();
  const agent = await memdir.agent("reviewer", "project");
  const { places } = memdir.opened;
  const [own, team, its] = [join(memdir.directory, "a.md"), join(memdir.directory, "team/a.md"), join(agent.directory, "a.md")];
  assert.deepEqual([own, team, its, "/etc/passwd"].map((path) => classifyPath(path, places)), ["auto", "team", "agent", "none"]);
  assert.deepEqual([own, its, join(memdir.directory, "a.txt")].map((path) => mayWrite(path, places)), [true, true, false]);
  assert.ok(mayWrite(its, agent.opened.places), "its own places are enough");
  const calls = [own, own, team].map((file_path) => classifyToolCall("Read", JSON.stringify({ file_path }), places));
  assert.deepEqual(calls[2], { kind: "team", action: "read", path: team });
  assert.deepEqual(summariseToolCalls(calls, true), ["Recalled 1 memory", "Recalled 1 team memory"]);
  for (const wrong of [null, {}, { ...places, agents: "x" }, { ...places, platform: "linux" }, { ...places, more: 1 }]) {
    assert.throws(() => classifyPath(own, wrong), code("invalid-argument"), JSON.stringify(wrong));
  }
  assert.throws(() => summariseToolCalls([{ kind: "x", action: "read", path: null }], true), code("invalid-argument"));
  assert.throws(() => summariseToolCalls([], 1), code("invalid-argument"));
});
