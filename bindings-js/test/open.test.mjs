// Which store is opened, and why: in real repositories, by settings, by the environment, and when
// memory is off.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Memdir } from "memdir";
import { injectiveKey, projectSlug } from "memdir/rules";

import { code, folder, memory, store } from "./support/folders.mjs";
import { git, repository } from "./support/git.mjs";

const LINUX = process.platform === "linux";

/** Opens the store of a project, with a config home of its own and nothing of this process. */
function open(config, cwd, options = {}) {
  return Memdir.open({ cwd, home: null, env: { CLAUDE_CONFIG_DIR: config }, ...options });
}

/** Writes a settings file. */
function settings(path, content) {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

test("a repository, its folders and its worktrees share one store", { skip: !LINUX }, async (t) => {
  const [root, config] = [folder(t), folder(t)];
  const main = join(root, "main");
  repository(main);
  mkdirSync(join(main, "a/b"), { recursive: true });
  git(main, "worktree", "add", "--quiet", "../tree");
  git(main, "-c", "worktree.useRelativePaths=true", "worktree", "add", "--quiet", "../relative");
  mkdirSync(join(root, "tree/sub"));
  symlinkSync(main, join(root, "link"));

  const checkouts = [["main", ""], ["main", "a/b"], ["tree", ""], ["tree", "sub"], ["relative", ""]];
  for (const [checkout, below] of checkouts) {
    const cwd = join(root, checkout, below);
    const { directory, enabled, opened } = await open(config, cwd);
    assert.deepEqual(
      { ...opened, directory: undefined },
      {
        directory: undefined,
        enabled: true,
        because: "default",
        chosenBy: "default",
        chosenFile: null,
        projectKey: projectSlug(main),
        projectRoot: main,
        refused: [],
        places: {
          platform: "posix",
          store: directory,
          configHome: config,
          // What is kept with the files is that of the checkout.
          agents: [join(config, "agent-memory"), ...["", "-local"].map((end) => join(root, checkout, `.claude/agent-memory${end}`))],
          overridden: false,
        },
        report: [],
      },
      cwd,
    );
    assert.equal(directory, `${config}/projects/${projectSlug(main)}/memory/`);
    assert.equal(enabled, true);
  }
  assert.deepEqual(readdirSync(config), [], "opening creates nothing");
});

test("a submodule has its own store", { skip: !LINUX }, async (t) => {
  const [root, config] = [folder(t), folder(t)];
  const [main, part] = [join(root, "main"), join(root, "part")];
  repository(main);
  repository(part);
  git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part, "deps/part");
  assert.equal((await open(config, join(main, "deps/part"))).opened.projectRoot, join(main, "deps/part"));
  assert.equal((await open(config, join(main, "deps"))).opened.projectRoot, main);
});

test("a bare clone and its worktrees share one store", { skip: !LINUX }, async (t) => {
  const [root, config] = [folder(t), folder(t)];
  const bare = join(root, "bare.git");
  repository(join(root, "main"));
  git(root, "clone", "--quiet", "--bare", "main", "bare.git");
  git(bare, "worktree", "add", "--quiet", "../tree", "-b", "side");
  const [inside, tree] = [await open(config, bare), await open(config, join(root, "tree"))];
  assert.equal(tree.opened.projectRoot, bare);
  assert.equal(tree.directory, inside.directory);
});

test("a .git file that nobody vouches for stays where it is", { skip: !LINUX }, async (t) => {
  const [root, config] = [folder(t), folder(t)];
  repository(join(root, "main"));
  git(join(root, "main"), "worktree", "add", "--quiet", "../tree");
  const admin = join(root, "main/.git/worktrees/tree");
  for (const [name, text] of Object.entries({
    forged: `gitdir: ${admin}\n`,
    missing: "gitdir: /nowhere/at/all\n",
    itself: "gitdir: .git\n",
    relative: "gitdir: ../main/.git/worktrees/tree\n",
    nothing: "",
    long: `gitdir: ${"x".repeat(10_000)}\n`,
  })) {
    const path = join(root, name);
    mkdirSync(path);
    writeFileSync(join(path, ".git"), text);
    assert.equal((await open(config, path)).opened.projectRoot, path, name);
  }
});

test("without a repository the working directory is the project, whatever its name", { skip: !LINUX }, async (t) => {
  const [root, config] = [folder(t), folder(t)];
  for (const name of ["プロジェクト", "Настройки", "cafe\u0301", "x".repeat(250), "with space"]) {
    const path = join(root, name);
    mkdirSync(path);
    const { directory, opened } = await open(config, path);
    assert.equal(opened.projectRoot, path);
    assert.equal(directory, `${config}/projects/${projectSlug(path.normalize("NFC"))}/memory/`);
  }
});

test("a folder that belongs to another project is left to it", async (t) => {
  const [root, config] = [folder(t), folder(t)];
  const [taken, free] = [join(root, "a_b"), join(root, "a-b")];
  const own = join(config, "projects", projectSlug(taken), "memory/.memdir");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "origin"), JSON.stringify({ path: taken }));
  assert.equal((await open(config, taken)).opened.projectKey, projectSlug(taken));
  const { directory, opened } = await open(config, free);
  assert.equal(opened.projectKey, injectiveKey(free));
  assert.equal(directory, `${config}/projects/${injectiveKey(free)}/memory/`);
  assert.deepEqual(
    opened.report.map(({ code }) => code),
    ["slug-collision"],
  );
});

test("settings: files, the object, what is not trusted, what is broken", async (t) => {
  const [root, config, elsewhere] = [folder(t), folder(t), folder(t)];
  const codes = ({ opened }) => opened.report.map(({ code }) => code);
  const user = join(config, "settings.json");
  settings(user, { autoMemoryDirectory: join(elsewhere, "user"), env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } });
  const byUser = await open(config, root);
  assert.equal(byUser.directory, `${elsewhere}/user/`);
  assert.deepEqual([byUser.opened.chosenBy, byUser.opened.chosenFile, byUser.enabled], ["settings-user", user, true]);

  const flag = { autoMemoryDirectory: join(elsewhere, "flag"), other: [1, { a: null }], skipped: undefined };
  const byFlag = await open(config, root, { settings: flag });
  assert.equal(byFlag.directory, `${elsewhere}/flag/`);
  assert.deepEqual([byFlag.opened.chosenBy, byFlag.opened.chosenFile], ["settings-flag", null]);
  assert.equal((await open(config, root, { settings: null })).opened.chosenBy, "settings-user");

  settings(join(root, ".claude/settings.json"), { autoMemoryDirectory: elsewhere, autoMemoryEnabled: false });
  const byProject = await open(config, root);
  assert.equal(byProject.directory, `${elsewhere}/user/`);
  assert.deepEqual(byProject.opened.refused, [{ source: "settings-project", code: "not-trusted" }]);
  assert.deepEqual([byProject.enabled, byProject.opened.because], [false, "settings-project"]);
  assert.deepEqual(codes(byProject), ["directory-refused"]);

  settings(user, '{"autoMemoryEnabled": tru');
  settings(join(root, ".claude/settings.json"), { autoMemoryEnabled: "no" });
  mkdirSync(join(root, ".claude/settings.local.json"));
  const broken = await open(config, root, { settings: { autoMemoryDirectory: 1 } });
  assert.deepEqual(codes(broken).sort(), [
    "settings-invalid",
    "settings-unreadable",
    "settings-wrong-type",
    "settings-wrong-type",
  ]);
  assert.deepEqual([broken.enabled, broken.opened.chosenBy], [true, "default"]);
});

test("a directory that is given belongs to no project", async (t) => {
  const directory = store(t);
  const { opened } = await Memdir.open({ directory, cwd: null, home: null, env: {} });
  assert.deepEqual(opened, {
    directory: `${directory}/`,
    enabled: true,
    because: "default",
    chosenBy: "option",
    chosenFile: null,
    projectKey: null,
    projectRoot: null,
    refused: [],
    places: { platform: process.platform === "win32" ? "windows" : "posix", store: `${directory}/`, configHome: null, agents: [], overridden: false },
    report: [],
  });
});

test("no home directory, or none that can be", async (t) => {
  const cwd = folder(t);
  for (const home of [null, "", "relative", "./x"]) {
    await assert.rejects(Memdir.open({ cwd, home, env: {} }), code("no-home"));
  }
  const home = folder(t);
  const { directory } = await Memdir.open({ cwd, home, env: { HOME: "/elsewhere", CLAUDE_CONFIG_DIR: undefined } });
  assert.equal(directory, `${home}/.claude/projects/${projectSlug(cwd)}/memory/`);
  assert.equal((await Memdir.open({ directory: "~/notes", cwd, home, env: {} })).directory, `${home}/notes/`);
});

test("neither a directory nor a project", async () => {
  for (const cwd of [null, "", "relative"]) {
    await assert.rejects(Memdir.open({ cwd, home: "/home/u", env: {} }), code("invalid-argument"));
  }
});

test("what is not given is that of the process", async (t) => {
  const config = folder(t);
  const before = process.env["CLAUDE_CONFIG_DIR"];
  process.env["CLAUDE_CONFIG_DIR"] = config;
  t.after(() => {
    if (before === undefined) {
      delete process.env["CLAUDE_CONFIG_DIR"];
    } else {
      process.env["CLAUDE_CONFIG_DIR"] = before;
    }
  });
  const { directory, opened } = await Memdir.open();
  assert.ok(directory.startsWith(`${config}/projects/`), directory);
  assert.deepEqual(opened, (await open(config, process.cwd())).opened);
});

test("the platform decides the rules of paths", async () => {
  const where = { home: "C:\\Users\\u", env: {}, platform: "windows" };
  const { directory } = await Memdir.open({ ...where, directory: "C:\\notes\\memory" });
  assert.equal(directory, "C:\\notes\\memory\\");
  await assert.rejects(Memdir.open({ ...where, directory: "/notes/memory" }), code("path-relative"));
});

test("off means off", async (t) => {
  const [cwd, config] = [folder(t), folder(t)];
  for (const [env, options, because] of [
    [{ CLAUDE_CODE_DISABLE_AUTO_MEMORY: "yes" }, {}, "env-disabled"],
    [{ CLAUDE_CODE_SIMPLE: "1" }, {}, "simple-mode"],
    [{}, { settings: { autoMemoryEnabled: false } }, "settings-flag"],
  ]) {
    const memdir = await open(config, cwd, { env: { CLAUDE_CONFIG_DIR: config, ...env }, ...options });
    assert.deepEqual([memdir.enabled, memdir.opened.because], [false, because]);
    assert.equal(await memdir.prompt(), null);
    const { memories, report } = await memdir.scan();
    assert.deepEqual([memories, report.map(({ code }) => code)], [[], ["disabled"]]);
    assert.equal(await memdir.manifest(), "");
    await assert.rejects(memdir.read("a.md"), code("disabled"));
    assert.deepEqual(
      (await memdir.lint()).findings.map(({ code }) => code),
      ["disabled"],
    );
    await memdir.close();
  }
  assert.deepEqual(readdirSync(config), []);
});

test("a false word forces memory on", async (t) => {
  const [cwd, config] = [folder(t), folder(t)];
  const env = { CLAUDE_CONFIG_DIR: config, CLAUDE_CODE_DISABLE_AUTO_MEMORY: "0" };
  const { enabled, opened } = await open(config, cwd, { env, settings: { autoMemoryEnabled: false } });
  assert.deepEqual([enabled, opened.because], [true, "env-forced"]);
});

test("the prompt: one step, the past, further guidelines", async (t) => {
  const [cwd, config] = [folder(t), folder(t)];
  const env = { CLAUDE_CONFIG_DIR: config, CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES: "Extra from outside." };
  const memdir = await open(config, cwd, { env });
  await memdir.prompt();
  assert.ok(existsSync(memdir.directory));
  writeFileSync(join(memdir.directory, "MEMORY.md"), "- [one](one.md)\n");
  writeFileSync(join(memdir.directory, "one.md"), memory("one"));
  memdir.compacted();

  const plain = await memdir.prompt();
  assert.ok(plain.includes("- [one](one.md)"));
  assert.ok(plain.includes("Extra from outside."));
  const whole = await memdir.prompt({ pastContext: true, guidelines: ["First of ours.", "Second of ours."] });
  const at = ["Extra from outside.", "First of ours.", "Second of ours."].map((text) => whole.indexOf(text));
  assert.ok(at[0] > 0 && at[0] < at[1] && at[1] < at[2], String(at));
  assert.ok(whole.includes(`${config}/projects/${projectSlug(cwd)}`));
  assert.ok(whole.length > plain.length + 100);

  const oneStep = await open(config, cwd, { env, features: { oneStep: true, extractEvery: 3, team: undefined } });
  assert.ok(!(await oneStep.prompt()).includes("- [one](one.md)"));
});
