// The instructions of a project over real folders: what is loaded in which order, what is said of the rest, and who is
// asked. What each file means is the core's, which has vectors of its own.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

import { Memdir } from "memdir";

import { watched } from "./support/flows.mjs";
import { code, folder } from "./support/folders.mjs";
import { git, repository } from "./support/git.mjs";

const require = createRequire(import.meta.url);
const { core } = require("../dist/core.js");
const MANAGED = "/etc/claude-code";
const LINKS = process.platform !== "win32";

/** Writes files, by their paths below a folder; all of them are of an earlier time. */
function write(root, texts) {
  for (const [name, text] of Object.entries(texts)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
  }
}

/** A machine with a user, who works in `repo/pkg` of a repository. */
function machine(t, texts = {}) {
  const root = folder(t);
  repository(join(root, "repo"));
  mkdirSync(join(root, "repo/pkg"));
  write(root, texts);
  const at = (...parts) => join(root, ...parts);
  return { root, at, where: { cwd: at("repo/pkg"), home: at("home"), env: { CLAUDE_CONFIG_DIR: at("config") } } };
}

async function opened(t, texts, options = {}) {
  const { root, at, where } = machine(t, texts);
  const events = [];
  const memdir = await Memdir.open({ ...where, onEvent: (event) => events.push(event), ...options });
  return { memdir, root, at, events };
}

/** What was loaded below a folder; this machine may have instructions of its own. */
function names(root, { files }) {
  return files.filter(({ path }) => path.startsWith(root)).map(({ path }) => relative(root, path));
}

/** What is said of the files below a folder that were not loaded. */
function others(root, { report }) {
  return report
    .filter(({ path, outcome }) => path.startsWith(root) && outcome !== "loaded")
    .map(({ path, outcome, code }) => [relative(root, path), code ?? outcome]);
}

const CHAIN = {
  "config/CLAUDE.md": "User.",
  "config/rules/style.md": "Style of the user.",
  "repo/CLAUDE.md": "Project.",
  "repo/.claude/CLAUDE.md": "Project, too.",
  "repo/.claude/rules/a.md": "Rule.",
  "repo/.claude/rules/deep/b.md": "---\npaths: \"*.ts\"\n---\nOf TypeScript.",
  "repo/CLAUDE.local.md": "Local.",
  "repo/pkg/CLAUDE.md": "<!-- not for the model -->\nPackage.\n",
};

test("from the broadest to the nearest, and every file is accounted for", async (t) => {
  const { memdir, root, at } = await opened(t, CHAIN);
  const loaded = await memdir.instructions();
  assert.deepEqual(names(root, loaded), [
    "config/CLAUDE.md",
    "config/rules/style.md",
    "repo/CLAUDE.md",
    "repo/.claude/CLAUDE.md",
    "repo/.claude/rules/a.md",
    "repo/CLAUDE.local.md",
    "repo/pkg/CLAUDE.md",
  ]);
  assert.deepEqual(loaded.files.at(-1), {
    path: at("repo/pkg/CLAUDE.md"),
    source: "project",
    kind: "file",
    text: "Package.",
    parent: null,
    globs: null,
    differs: true,
  });
  const places = ["User.", "Style of the user.", "Project.", "Rule.", "Local.", "Package."].map((text) => loaded.text.indexOf(text));
  assert.deepEqual(places.toSorted((a, b) => a - b), places);
  assert.ok(!places.includes(-1) && !loaded.text.includes("not for the model"));
  const { bytes, lines, ...waiting } = loaded.report.find(({ outcome }) => outcome === "conditional");
  assert.ok(bytes > 0 && lines === 4);
  assert.deepEqual(waiting, {
    path: at("repo/.claude/rules/deep/b.md"),
    source: "project",
    kind: "rule",
    outcome: "conditional",
    code: null,
    message: null,
    parent: null,
    depth: 0,
    globs: ["*.ts"],
    notes: [],
  });
  assert.ok(!existsSync(memdir.directory), "nothing is written");
});

test("the administrator comes first, and cannot be excluded or switched off", async (t) => {
  const { root, at, where } = machine(t, { ...CHAIN, "managed/CLAUDE.md": "Managed." });
  const store = new (core().Store)(where);
  // What stands in the folders of this machine is another one's.
  const see = (effect) => {
    for (const key of ["path", "within"]) {
      effect[key] = effect[key]?.replace(MANAGED, at("managed")) ?? null;
    }
    effect.paths = effect.paths?.map((path) => path.replace(MANAGED, at("managed")));
  };
  const load = async (options) => JSON.parse(await watched(store.instructions(options), see));
  const all = await load({});
  assert.deepEqual([all.files[0].source, all.files[0].text], ["managed", "Managed."]);
  assert.deepEqual([...new Set(all.files.map(({ source }) => source))], ["managed", "user", "project", "local"]);
  const alone = await load({ user: false, project: false, local: false, excludes: ["**"] });
  assert.deepEqual(alone.files.map(({ source }) => source), ["managed"]);
  assert.deepEqual(names(root, alone), []);
});

test("without a config folder of its own, the user's is in the home directory", async (t) => {
  const { memdir, root } = await opened(t, { "home/.claude/CLAUDE.md": "User." }, { env: {} });
  assert.deepEqual(names(root, await memdir.instructions()), ["home/.claude/CLAUDE.md"]);
});

test("sources, excludes, AGENTS.md, further folders, and what the conversation has already", async (t) => {
  const texts = { ...CHAIN, "repo/AGENTS.md": "Agents.", "other/CLAUDE.md": "Other.", "other/CLAUDE.local.md": "Local of other." };
  const { memdir, root, at } = await opened(t, texts, { settings: { claudeMdExcludes: ["**/repo/.claude/CLAUDE.md"] } });
  const load = async (options) => names(root, await memdir.instructions(options));
  assert.deepEqual(await load({ user: false, local: false }), ["repo/CLAUDE.md", "repo/.claude/rules/a.md", "repo/pkg/CLAUDE.md"]);
  assert.deepEqual(await load({ project: false }), ["config/CLAUDE.md", "config/rules/style.md", "repo/CLAUDE.local.md"]);
  assert.deepEqual(await load({ user: false, agentsMd: true, excludes: ["**/rules/**", "**/*.local.md"] }), [
    "repo/AGENTS.md",
    "repo/CLAUDE.md",
    "repo/pkg/CLAUDE.md",
  ]);
  assert.deepEqual((await load({ additionalDirectories: [at("other")] })).slice(-3), [
    "repo/pkg/CLAUDE.md",
    "other/CLAUDE.md",
    "other/CLAUDE.local.md",
  ]);
  const again = await memdir.instructions({ user: false, loaded: [at("repo/CLAUDE.md")] });
  assert.deepEqual(names(root, again)[0], "repo/.claude/rules/a.md");
  assert.deepEqual(others(root, again).slice(0, 2), [
    ["repo/CLAUDE.md", "already-loaded"],
    ["repo/.claude/CLAUDE.md", "excluded"],
  ]);
});

test("a worktree inside its repository does not load the same twice", async (t) => {
  const { root, at, where } = machine(t, { "repo/CLAUDE.md": "Project.", "repo/CLAUDE.local.md": "Local." });
  git(at("repo"), "add", "CLAUDE.md");
  git(at("repo"), "commit", "--quiet", "--message", "second");
  git(at("repo"), "worktree", "add", "--quiet", "-b", "other", at("repo/trees/other"));
  const memdir = await Memdir.open({ ...where, cwd: at("repo/trees/other") });
  const loaded = await memdir.instructions();
  assert.deepEqual(names(root, loaded), ["repo/CLAUDE.local.md", "repo/trees/other/CLAUDE.md"]);
  assert.deepEqual(others(root, loaded), [["repo/CLAUDE.md", "nested-worktree"]]);
});

test("imports: behind the file that has them, each once, and what is wrong is said", async (t) => {
  const { memdir, root, at } = await opened(t, {
    "repo/CLAUDE.md": "See @docs/a.md, `@docs/code.md` and @alice.\n\n@./missing.md @../repo/data.bin @docs",
    "repo/docs/a.md": "A, with @b.md",
    "repo/docs/b.md": "B, with @./a.md and @~/notes.md",
    "repo/data.bin": "\0",
    "home/notes.md": "Notes.",
  });
  const loaded = await memdir.instructions({ approved: [at("home")] });
  assert.deepEqual(
    loaded.files.filter(({ path }) => path.startsWith(root)).map(({ path, kind, parent }) => [relative(root, path), kind, parent && relative(root, parent)]),
    [
      ["repo/CLAUDE.md", "file", null],
      ["repo/docs/a.md", "import", "repo/CLAUDE.md"],
      ["repo/docs/b.md", "import", "repo/docs/a.md"],
      ["home/notes.md", "import", "repo/docs/b.md"],
    ],
  );
  assert.deepEqual(others(root, loaded), [
    ["repo/docs/a.md", "already-loaded"],
    ["repo/missing.md", "import-missing"],
    ["repo/data.bin", "not-text-type"],
  ]);
  const { depth, source, message } = loaded.report.find(({ path }) => path === at("home/notes.md"));
  assert.deepEqual([depth, source, message], [3, "project", null]);
});

const OUTSIDE = { "repo/CLAUDE.md": "@../outside/a.md\n@../outside/b.md\n", "outside/a.md": "A.", "outside/b.md": "B." };

test("what leads out of the working tree needs approval: from a list", async (t) => {
  const { memdir, root, at } = await opened(t, OUTSIDE);
  const load = (approved) => memdir.instructions({ approved });
  const none = await load([]);
  assert.deepEqual(names(root, none), ["repo/CLAUDE.md"]);
  assert.deepEqual(others(root, none), [["outside/a.md", "needs-approval"], ["outside/b.md", "needs-approval"]]);
  assert.match(none.report.find(({ code }) => code === "needs-approval").message, /outside\/a\.md.*approve/);
  assert.deepEqual(names(root, await load([at("outside/b.md")])), ["repo/CLAUDE.md", "outside/b.md"]);
  assert.deepEqual(names(root, await load([at("outside")])), ["repo/CLAUDE.md", "outside/a.md", "outside/b.md"]);
});

test("what leads out of the working tree needs approval: from a function, asked once", async (t) => {
  const asked = [];
  const approveImport = async (path, parent) => {
    asked.push([path, parent]);
    return path.endsWith("a.md");
  };
  const { memdir, root, at } = await opened(t, OUTSIDE, { approveImport });
  for (const _ of [1, 2]) {
    const loaded = await memdir.instructions();
    assert.deepEqual(names(root, loaded), ["repo/CLAUDE.md", "outside/a.md"]);
    assert.deepEqual(others(root, loaded), [["outside/b.md", "needs-approval"]]);
    memdir.compacted();
  }
  const parent = at("repo/CLAUDE.md");
  assert.deepEqual(asked, [[at("outside/a.md"), parent], [at("outside/b.md"), parent]]);
});

test("a link out of the working tree needs approval, too", { skip: !LINKS }, async (t) => {
  const asked = [];
  const approveImport = (path) => asked.push(path) > 1;
  const { memdir, root, at } = await opened(t, { "repo/CLAUDE.md": "@docs/a.md", "outside/a.md": "A." }, { approveImport });
  mkdirSync(at("repo/docs"));
  symlinkSync(at("outside/a.md"), at("repo/docs/a.md"));
  symlinkSync(at("outside/a.md"), at("repo/pkg/CLAUDE.md"));
  assert.deepEqual(names(root, await memdir.instructions()), ["repo/CLAUDE.md"]);
  assert.deepEqual(asked, [at("outside/a.md")], "it is the same file");
});

test("a function that does not answer is asked again, and costs nothing else", async (t) => {
  const answers = [() => { throw new Error("no window"); }, () => Promise.reject(new Error("no window")), () => "yes", () => true];
  const { memdir, root } = await opened(t, { ...OUTSIDE, "repo/CLAUDE.md": "@../outside/a.md" }, { approveImport: () => answers.shift()() });
  for (const why of [/no window/, /no window/, /true or false/]) {
    const loaded = await memdir.instructions();
    assert.deepEqual(names(root, loaded), ["repo/CLAUDE.md"]);
    assert.match(loaded.report.find(({ code }) => code === "needs-approval").message, why);
  }
  assert.deepEqual(names(root, await memdir.instructions()), ["repo/CLAUDE.md", "outside/a.md"]);
});

test("cancelling does not wait for somebody who is asked", async (t) => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const approveImport = () => {
    controller.abort(reason);
    return new Promise(() => {});
  };
  const { memdir } = await opened(t, OUTSIDE, { approveImport });
  const { signal } = controller;
  await assert.rejects(memdir.instructions({ signal }), (error) => error.cause === reason && code("aborted")(error));
  for (const start of [() => memdir.instructionsFor("a", { signal }), () => memdir.context({ signal })]) {
    await assert.rejects(start(), code("aborted"));
  }
});

test("instructionsFor: rules about the file, and the folders on the way to it", async (t) => {
  const { memdir, root, at } = await opened(t, {
    ...CHAIN,
    "repo/.claude/rules/pkg.md": "---\npaths: [\"pkg/src/**\", \"!pkg/src/old/\"]\n---\nOf the sources.",
    "repo/pkg/src/CLAUDE.md": "Sources, with @more.md.",
    "repo/pkg/src/more.md": "More.",
    "repo/pkg/other/CLAUDE.md": "Other.",
  });
  const load = async (path, options) => names(root, await memdir.instructionsFor(path, options));
  const all = ["repo/.claude/rules/deep/b.md", "repo/.claude/rules/pkg.md", "repo/pkg/src/CLAUDE.md", "repo/pkg/src/more.md"];
  assert.deepEqual(await load("src/a.ts"), all);
  assert.deepEqual(await load(at("repo/pkg/src/a.ts")), all);
  assert.deepEqual(await load("src/old/a.js"), all.slice(2));
  assert.deepEqual(await load("a.ts"), all.slice(0, 1));
  assert.deepEqual(await load("a.js"), []);
  assert.deepEqual(await load("src/a.js", { loaded: [at(all[2])] }), [all[1]]);
  const [{ globs, text }] = (await memdir.instructionsFor("a.ts")).files;
  assert.deepEqual([globs, text], [["*.ts"], "Of TypeScript."]);
  await assert.rejects(memdir.instructionsFor(""), code("invalid-argument"));
  await assert.rejects(memdir.instructionsFor(), code("invalid-argument"));
  await assert.rejects(memdir.instructionsFor("\ud800"), code("invalid-text"));
});

test("listeners hear of every file once, and of what has changed", async (t) => {
  const { memdir, at, events } = await opened(t, { ...CHAIN, "config/CLAUDE.md": "User, with @./more.md", "config/more.md": "More." });
  const told = () => events.splice(0).filter(({ kind }) => kind === "instructions").map(({ path, code }) => [path, code]);
  await memdir.instructions();
  const first = told();
  assert.deepEqual(first.slice(0, 2), [
    [at("config/CLAUDE.md"), "session-start"],
    [at("config/more.md"), "include"],
  ]);
  await memdir.instructions();
  assert.deepEqual(told(), []);
  write(at("repo"), { "CLAUDE.md": "Project, changed." });
  await memdir.instructions();
  assert.deepEqual(told(), [[at("repo/CLAUDE.md"), "session-start"]]);
  await memdir.instructionsFor("src/a.ts");
  assert.deepEqual(told(), [[at("repo/.claude/rules/deep/b.md"), "path-glob-match"]]);
  write(at("repo/pkg"), { "src/CLAUDE.md": "Sources." });
  await memdir.instructionsFor("src/a.ts");
  assert.deepEqual(told(), [[at("repo/pkg/src/CLAUDE.md"), "nested-traversal"]]);
  memdir.compacted();
  await memdir.instructions();
  assert.deepEqual(told(), first.map(([path, why]) => [path, why === "include" ? why : "compact"]));
});

test("a second load reads nothing, and a change is read", async (t) => {
  const { at, where } = machine(t, { ...CHAIN, "repo/pkg/CLAUDE.md": "Package, with @a.md", "repo/pkg/a.md": "A." });
  const store = new (core().Store)(where);
  let read = [];
  const see = ({ kind, path, paths }) => {
    if (kind === "read" || kind === "read-many") {
      read.push(...(paths ?? [path]));
    }
  };
  const load = async () => {
    read = [];
    return watched(store.instructions({}), see);
  };
  const first = await load();
  assert.ok(read.includes(at("repo/pkg/a.md")));
  assert.equal(await load(), first);
  assert.deepEqual(read, []);
  write(at("repo/pkg"), { "a.md": "A, changed." });
  assert.match(await load(), /A, changed\./);
  assert.deepEqual(read, [at("repo/pkg/a.md")]);
  store.compacted();
  await load();
  assert.ok(read.includes(at("repo/CLAUDE.md")));
});

test("context: everything in order, the same to the byte until a compaction", async (t) => {
  const { memdir, at } = await opened(t, CHAIN);
  mkdirSync(memdir.directory, { recursive: true });
  write(memdir.directory, { "MEMORY.md": "- [role](role.md) — Go veteran\n", "role.md": "x" });
  const context = await memdir.context();
  assert.deepEqual(context.parts.map(({ kind }) => kind), ["instructions", "memory", "index"]);
  assert.equal(context.text, context.parts.map(({ text }) => text).join("\n\n"));
  assert.equal(context.parts[0].text, (await memdir.instructions()).text);
  assert.match(context.parts[2].text, /Go veteran/);
  const { source, kind, outcome } = context.report.at(-1);
  assert.deepEqual([source, kind, outcome], ["memory", "index", "loaded"]);

  write(at("repo"), { "CLAUDE.md": "Project, changed." });
  write(memdir.directory, { "MEMORY.md": "- [role](role.md) — Rust veteran\n" });
  rmSync(at("repo/pkg/CLAUDE.md"));
  assert.deepEqual(await memdir.context(), context);
  assert.deepEqual(await memdir.context({}), context);
  assert.notDeepEqual(await memdir.context({ user: false }), context, "other options are another context");
  memdir.compacted();
  const { text } = await memdir.context();
  assert.ok(text.includes("Project, changed.") && text.includes("Rust veteran") && !text.includes("Package."));
});

test("context: a team, no memory, nothing at all", async (t) => {
  const { memdir } = await opened(t, CHAIN, { features: { team: true } });
  mkdirSync(join(memdir.directory, "team"), { recursive: true });
  write(memdir.directory, { "team/MEMORY.md": "- [deploy](deploy.md) — how\n" });
  const kinds = ({ parts }) => parts.map(({ kind }) => kind);
  assert.deepEqual(kinds(await memdir.context()), ["instructions", "memory", "index", "team-index"]);

  const off = await opened(t, CHAIN, { settings: { autoMemoryEnabled: false } });
  assert.equal(off.memdir.enabled, false);
  assert.deepEqual(kinds(await off.memdir.context()), ["instructions"]);
  assert.ok(!existsSync(off.memdir.directory));

  const hidden = await opened(t, CHAIN, { env: { CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1" } });
  assert.deepEqual(await hidden.memdir.context(), { text: "", parts: [], report: [] });
  assert.deepEqual(await hidden.memdir.instructions(), { text: "", files: [], report: [] });
});

test("what is no option", async (t) => {
  const { memdir, where } = { ...(await opened(t, CHAIN)), ...machine(t) };
  const wrong = [
    [],
    { other: 1 },
    { user: "no" },
    { agentsMd: null },
    { excludes: "**" },
    { approved: [1] },
    { loaded: ["relative.md"] },
    { additionalDirectories: ["relative"] },
    { approved: ["./a.md"] },
    { signal: {} },
  ];
  for (const options of wrong) {
    for (const start of [() => memdir.instructions(options), () => memdir.instructionsFor("a.md", options), () => memdir.context(options)]) {
      await assert.rejects(start(), code("invalid-argument"), JSON.stringify(options));
    }
  }
  await assert.rejects(memdir.instructions({ excludes: ["\ud800"] }), code("invalid-text"));
  for (const approveImport of [true, "yes", null]) {
    await assert.rejects(Memdir.open({ ...where, approveImport }), code("invalid-argument"));
  }
  await memdir.close();
  for (const start of [() => memdir.instructions(), () => memdir.instructionsFor("a.md"), () => memdir.context()]) {
    await assert.rejects(start(), code("closed"));
  }
});
