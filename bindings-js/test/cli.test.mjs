// The program `memdir` as it is installed: the streams, the exit codes, a reader that goes away.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Memdir } from "memdir";
import { projectSlug, scanSecrets } from "memdir/rules";

import { folder, memory, store } from "./support/folders.mjs";
import { repository } from "./support/git.mjs";
import { PROVIDERS, serve } from "./support/servers.mjs";
import { REPOSITORY, teamServer, TOKEN } from "./support/team.mjs";
import { githubToken } from "./support/tokens.mjs";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

/** What it says of a project depends on nothing of the machine, but for `env`. */
function memdir(args, options) {
  return run(process.execPath, [CLI, ...args], options);
}

function run(program, args, { cwd, env = {}, input, closeOutput = false } = {}) {
  return new Promise((resolve, reject) => {
    const { PATH } = process.env;
    const child = spawn(program, args, { cwd, env: { PATH, HOME: "", ...env }, stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"] });
    child.stdin?.end(input);
    const output = { stdout: "", stderr: "" };
    if (closeOutput) {
      child.stdout.destroy();
    }
    child.stdout.on("data", (part) => { output.stdout += part; });
    child.stderr.on("data", (part) => { output.stderr += part; });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

test("scan --json prints what the library gives", async (t) => {
  const directory = store(t, { "a.md": memory("a"), "b.md": memory("b"), "empty.md": "" });
  const library = await Memdir.open({ directory });
  const { code, stdout, stderr } = await memdir(["scan", "--json", "--dir", directory]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { directory: library.directory, ...(await library.scan()) });
});

test("--dir is relative to where the program runs", async (t) => {
  const cwd = store(t, { "a.md": memory("a") });
  const { code, stdout } = await memdir(["scan", "--json", "--dir", "."], { cwd });
  assert.equal(code, 0);
  assert.deepEqual(
    JSON.parse(stdout).memories.map(({ path }) => path),
    ["a.md"],
  );
});

test("wrong usage is 2 and says so on stderr only", async () => {
  for (const args of [["--nonsense"], ["nonsense"], ["scan", "--dir"]]) {
    const { code, stdout, stderr } = await memdir(args);
    assert.equal(code, 2, args.join(" "));
    assert.equal(stdout, "");
    assert.notEqual(stderr, "");
  }
});

test("a failure is 1", async (t) => {
  const { code, stdout, stderr } = await memdir(["show", "missing.md", "--dir", store(t)]);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /missing\.md/);
});

test("a reader that goes away ends the program quietly", async (t) => {
  const memories = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m${index}.md`, memory(`m${index}`, "x".repeat(2000))]));
  const { code, stderr } = await memdir(["scan", "--dir", store(t, memories)], { closeOutput: true });
  assert.ok(code === 0 || code === 1, `exit ${code}`);
  assert.doesNotMatch(stderr, /at .*\.js/, "no stack");
});

test("path says which folder, and why", async (t) => {
  const [root, config] = [folder(t), folder(t)];
  const project = join(root, "project");
  repository(project);
  mkdirSync(join(project, "sub"));
  mkdirSync(join(project, ".claude"));
  writeFileSync(join(project, ".claude/settings.json"), '{"autoMemoryDirectory": "/srv/evil"}');
  const env = { CLAUDE_CONFIG_DIR: config };
  const cwd = join(project, "sub");
  const { code, stdout, stderr } = await memdir(["path", "--json"], { cwd, env });
  assert.equal(code, 0, stderr);
  const opened = JSON.parse(stdout);
  // The places are for programs, and differ with what each host knows.
  const { places, ...known } = (await Memdir.open({ cwd, home: null, env })).opened;
  assert.ok(places);
  assert.deepEqual(opened, known);
  assert.equal(opened.directory, `${config}/projects/${projectSlug(project)}/memory/`);
  assert.deepEqual(opened.refused, [{ source: "settings-project", code: "not-trusted" }]);

  const plain = await memdir(["path", "--cwd", "project/sub"], { cwd: root, env });
  assert.equal(plain.code, 0);
  assert.equal(plain.stdout.split("\n")[0], opened.directory);
  assert.match(plain.stdout, /refused: settings-project \(not-trusted\)/);
  assert.deepEqual(readdirSync(config), []);
});

test("lint is 1 when something is an error", async (t) => {
  const good = store(t, { "MEMORY.md": "- [a](a.md)\n", "a.md": memory("a") });
  const fine = await memdir(["lint", "--json", "--dir", good]);
  assert.deepEqual([fine.code, JSON.parse(fine.stdout)], [0, { findings: [] }]);

  const odd = store(t, { "MEMORY.md": "- [a](a.md)\n", "a.md": memory("a"), "b.md": memory("b") });
  const warned = await memdir(["lint", "--json", "--dir", odd]);
  assert.deepEqual([warned.code, JSON.parse(warned.stdout).findings.map(({ code }) => code)], [0, ["not-indexed"]]);

  const bad = store(t, { "MEMORY.md": "- [gone](gone.md)\n" });
  const failed = await memdir(["lint", "--json", "--dir", bad]);
  assert.equal(failed.code, 1);
  assert.deepEqual(JSON.parse(failed.stdout), await (await Memdir.open({ directory: bad })).lint());
  const plain = await memdir(["lint", "--dir", bad]);
  assert.equal(plain.code, 1);
  assert.match(plain.stdout, /^MEMORY\.md:1: error: .*\[index-link-broken\]\n$/);
});

test("recall prints what the library gives, and writes nothing", async (t) => {
  const directory = store(t, { "a.md": memory("a", "how the checkout service is deployed"), "b.md": memory("b") });
  const query = "deploy the checkout service";
  const recall = await (await Memdir.open({ directory })).recall(query);
  assert.equal(recall.memories.length, 1);
  const plain = await memdir(["recall", query, "--dir", directory]);
  assert.deepEqual([plain.code, plain.stdout, plain.stderr], [0, `${recall.render()}\n`, ""]);
  const { stdout } = await memdir(["recall", query, "--json", "--limit", "1", "--dir", directory]);
  assert.deepEqual(JSON.parse(stdout).memories.map(({ path }) => path), ["a.md"]);
  const nothing = await memdir(["recall", "unicycle juggling lessons", "--dir", directory]);
  assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
  assert.equal((await memdir(["recall", "--dir", directory])).code, 2);
  assert.deepEqual(readdirSync(directory).sort(), ["a.md", "b.md"]);
});

test("recall --model asks a model, whose key is not shown", async (t) => {
  const directory = store(t, { "a.md": memory("a", "how the checkout service is deployed"), "b.md": memory("b") });
  const key = "sk-test-0123456789";
  for (const [kind, provider] of Object.entries(PROVIDERS)) {
    let status = 200;
    const url = await serve(t, (request, response) => {
      request.resume();
      const good = provider.answer('{"selected_memories": ["b.md"]}');
      const body = status === 200 ? good : provider.error(`bad key ${provider.keyOf(request.headers)}`);
      response.writeHead(status).end(JSON.stringify(body));
    });
    const env = { [provider.variables.key]: key, [provider.variables.url]: url + provider.base };
    const ask = () => memdir(["recall", "deploy the checkout service", "--model", provider.name, "--dir", directory], { env });
    const chosen = await ask();
    assert.equal(chosen.code, 0, chosen.stderr);
    assert.match(chosen.stdout, /Body of b\./, kind);
    status = 401;
    const bad = await ask();
    assert.equal(bad.code, 0);
    assert.match(bad.stdout, /Body of a\./, "words decided");
    assert.match(bad.stderr, /status 401/);
    assert.ok(![chosen, bad].some(({ stdout, stderr }) => (stdout + stderr).includes(key)));
  }
});

test("save takes the body from stdin, and tells what came of it", async (t) => {
  const directory = store(t);
  const save = (args, input) => memdir(["save", ...args, "--dir", directory], { input });
  const role = ["--type", "user", "--name", "Role", "--description", "Go veteran"];
  const plain = await save(role, "Knows Go \u2713.\n");
  assert.deepEqual([plain.code, plain.stdout, plain.stderr], [0, "saved: user_role.md\n", ""]);
  const library = await Memdir.open({ directory });
  const { body, hash } = await library.read("user_role.md");
  assert.equal(body, "Knows Go \u2713.");

  const same = await save([...role, "--json"], "Knows Go \u2713.\n");
  assert.equal(same.code, 0);
  assert.deepEqual(JSON.parse(same.stdout), {
    outcome: "unchanged",
    path: "user_role.md",
    absolutePath: join(directory, "user_role.md"),
    hash,
    created: false,
    indexChanged: false,
    code: null,
    message: null,
    report: [],
  });

  const shown = JSON.parse((await memdir(["show", "user_role.md", "--json", "--dir", directory])).stdout);
  assert.deepEqual([shown.body, shown.hash], [body, hash]);
  const path = ["--path", "user_role.md"];
  assert.equal((await save([...path, "--expect", hash, "--description", "Go and Rust"], "")).code, 0);
  const { header, body: kept } = await library.read("user_role.md");
  assert.deepEqual([header.description, kept], ["Go and Rust", body], "no input empties no memory");

  const conflict = await save([...path, "--expect", hash, "--json"], "x");
  assert.equal(conflict.code, 1);
  assert.deepEqual([JSON.parse(conflict.stdout).outcome, JSON.parse(conflict.stdout).code], ["conflict", "exists"]);
  const refused = await save(["--type", "user", "--name", "x", "--scope", "team"], "x");
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(refused.stderr, /\[user-private\]\n$/);
  const latin = await save(["--type", "user", "--name", "x"], Buffer.from([0x63, 0xe9]));
  assert.deepEqual([latin.code, latin.stdout], [1, ""]);
  assert.match(latin.stderr, /\[not-text\]\n$/);
  assert.equal((await save(["--type", "note", "--name", "x"], "x")).code, 2);
  assert.equal((await save(["user_role.md"], "x")).code, 2);
  assert.deepEqual(readdirSync(directory).sort(), [".memdir", "MEMORY.md", "user_role.md"]);
});

test("forget, and forget --undo", async (t) => {
  const directory = store(t, { "a.md": memory("a"), "MEMORY.md": "- [a](a.md)\n" });
  const forget = (...args) => memdir(["forget", ...args, "--dir", directory]);
  const { hash } = await (await Memdir.open({ directory })).read("a.md");
  const conflict = await forget("a.md", "--expect", hash.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")));
  assert.deepEqual([conflict.code, conflict.stdout], [1, ""]);
  assert.match(conflict.stderr, /\[exists\]\n$/);
  const plain = await forget("a.md", "--expect", hash);
  assert.deepEqual([plain.code, plain.stdout, plain.stderr], [0, "forgot: a.md\n", ""]);
  assert.equal(existsSync(join(directory, "a.md")), false);
  assert.equal((await forget("a.md")).code, 1);
  const undone = await forget("--undo", "--json");
  assert.equal(undone.code, 0);
  const { outcome, path, hash: restored, indexChanged } = JSON.parse(undone.stdout);
  assert.deepEqual([outcome, path, restored, indexChanged], ["written", "a.md", hash, true]);
  const nothing = await forget("--undo", "a.md");
  assert.deepEqual([nothing.code, nothing.stdout], [1, ""]);
  assert.match(nothing.stderr, /\[not-found\]\n$/);
  assert.equal((await forget()).code, 2);
});

test("log appends a note, from the words or from stdin", async (t) => {
  const directory = store(t);
  const log = (args, input) => memdir(["log", ...args, "--dir", directory], { input });
  const plain = await log(["deployed", "the checkout service"]);
  assert.deepEqual([plain.code, plain.stderr], [0, ""]);
  const [, path] = /^logged: (logs\/\d{4}\/\d\d\/\d{4}-\d\d-\d\d\.md)\n$/.exec(plain.stdout);
  const { outcome, created } = JSON.parse((await log(["--json"], "and rolled it back \u2713\n")).stdout);
  assert.deepEqual([outcome, created], ["written", false]);
  assert.match(readFileSync(join(directory, path), "utf8"), /^- \d\d:\d\d deployed the checkout service\n- \d\d:\d\d and rolled it back \u2713\n$/);
  const nothing = await log([], "\n");
  assert.deepEqual([nothing.code, nothing.stdout], [1, ""]);
  assert.match(nothing.stderr, /\[invalid-argument\]\n$/);
});

test("secrets says where they are, never what", async (t) => {
  const token = githubToken();
  const cwd = store(t, { "a.md": `one\nkey: ${token}\n`, "b.md": "nothing\n", "latin.md": Buffer.from(`\xe9 ${token}`, "latin1") });
  const file = await memdir(["secrets", "a.md"], { cwd });
  assert.deepEqual([file.code, file.stderr], [1, "secrets: 1\n"]);
  assert.match(file.stdout, /^a\.md:2: .+ \[github-pat\]\n$/);
  const piped = await memdir(["secrets", "-"], { input: token });
  assert.match(piped.stdout, /^standard input:1: /);
  const json = await memdir(["secrets", "a.md", "--json"], { cwd });
  assert.deepEqual([json.code, JSON.parse(json.stdout)], [1, { findings: scanSecrets(`one\nkey: ${token}\n`) }]);
  const latin = await memdir(["secrets", "latin.md"], { cwd });
  assert.equal(latin.code, 1);
  const clean = await memdir(["secrets", "b.md"], { cwd });
  assert.deepEqual([clean.code, clean.stdout], [0, ""]);
  assert.ok(![file, piped, json, latin].some(({ stdout, stderr }) => (stdout + stderr).includes(token)));
  assert.equal((await memdir(["secrets", "gone.md"], { cwd })).code, 1);
  assert.equal((await memdir(["secrets"], { cwd })).code, 2);
});

test("agent puts another store before any command", async (t) => {
  const [cwd, config] = [folder(t), folder(t)];
  const env = { CLAUDE_CONFIG_DIR: config };
  mkdirSync(join(cwd, ".claude"));
  const agent = (args, input) => memdir(["agent", "plugin:reviewer", ...args], { cwd, env, input });
  const where = await agent([]);
  assert.equal(where.code, 0, where.stderr);
  const name = /plugin-reviewer-[0-9a-f]{8}(?=\/\n)/.exec(where.stdout)?.[0];
  assert.equal(where.stdout.split("\n")[0], join(cwd, `.claude/agent-memory/${name}/`));
  assert.deepEqual([readdirSync(join(cwd, ".claude")), readdirSync(config)], [[], []]);
  const save = ["save", "--type", "feedback", "--name", "Style", "--scope", "user"];
  const saved = await agent(save, "Short reviews.");
  assert.deepEqual([saved.code, saved.stdout, saved.stderr], [0, "saved: feedback_style.md\n", ""]);
  const directory = join(config, `agent-memory/${name}/`);
  assert.equal((await (await Memdir.open({ directory })).read("feedback_style.md")).body, "Short reviews.");
  assert.equal((await agent(["save", "--type", "user", "--name", "Role"], "Knows Go.")).code, 0);
  const listed = await agent(["scan", "--json"]);
  assert.deepEqual(JSON.parse(listed.stdout).memories.map(({ path }) => path), ["user_role.md"]);
  assert.equal((await memdir(["agent"], { cwd, env })).code, 2);
  assert.equal((await agent(["--scope", "team"])).code, 2);
});

test("agent: the scope goes with every command", async (t) => {
  const [cwd, config] = [folder(t), folder(t)];
  const { code, stdout } = await memdir(["agent", "reviewer", "--scope", "user"], { cwd, env: { CLAUDE_CONFIG_DIR: config } });
  assert.deepEqual([code, stdout.split("\n")[0]], [0, join(config, "agent-memory/reviewer/")]);
});

test("team: sync, status and kept versions; the token comes from the environment and is not shown", async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const [ada, bob] = [store(t), store(t)];
  const env = { MEMDIR_TEAM_URL: server.url, MEMDIR_TEAM_TOKEN: TOKEN };
  const outputs = [];
  const team = async (directory, ...args) => {
    const result = await memdir(["team", ...args, "--dir", directory, ...(args[0] === "conflicts" ? [] : ["--repo", REPOSITORY])], { cwd: directory, env });
    outputs.push(result.stdout, result.stderr);
    return result;
  };
  const pulled = await team(ada, "pull");
  assert.deepEqual([pulled.code, pulled.stdout], [0, "received: a.md\n"], pulled.stderr);
  writeFileSync(join(ada, "team/b.md"), "ours\n");
  const status = await team(ada, "status", "--json");
  assert.deepEqual(JSON.parse(status.stdout).toSend, ["b.md"]);
  assert.deepEqual((await team(ada, "push")).stdout, "sent: b.md\n");
  const synced = await team(bob, "sync", "--json");
  assert.deepEqual(JSON.parse(synced.stdout).received, ["a.md", "b.md"]);
  for (const directory of [ada, bob]) {
    writeFileSync(join(directory, "team/b.md"), `of ${directory}\n`);
    assert.equal((await team(directory, "sync")).code, 0);
  }
  const kept = JSON.parse((await team(bob, "conflicts", "--json")).stdout).conflicts;
  assert.deepEqual(kept.map(({ path }) => path), ["team/b.md"]);
  assert.equal((await team(bob, "conflicts", "show", kept[0].id)).stdout, `of ${bob}\n`);
  assert.equal((await team(bob, "conflicts", "drop", kept[0].id)).code, 0);
  server.accepts = "another";
  const refused = await team(ada, "pull");
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(refused.stderr, /\[team-auth\]/);
  assert.ok(!outputs.some((text) => text.includes(TOKEN.slice(0, 20))));
});

test("team watch goes on until it is stopped", { skip: process.platform === "win32" }, async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const directory = store(t);
  const child = spawn(process.execPath, [CLI, "team", "watch", "--dir", directory, "--repo", REPOSITORY], {
    env: { PATH: process.env.PATH, HOME: "", MEMDIR_TEAM_URL: server.url, MEMDIR_TEAM_TOKEN: TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const [said] = await once(child.stderr, "data");
  assert.match(String(said), /received: 1/);
  assert.equal(readFileSync(join(directory, "team/a.md"), "utf8"), "a\n");
  child.kill("SIGTERM");
  assert.equal(await ended, 143);
});

/** A watch that has just come to rest, and what it says from then on. */
async function watching(t) {
  const server = await teamServer(t, { "a.md": "a\n" });
  const directory = store(t);
  const child = spawn(process.execPath, [CLI, "team", "watch", "--dir", directory, "--repo", REPOSITORY], {
    env: { PATH: process.env.PATH, HOME: "", MEMDIR_TEAM_URL: server.url, MEMDIR_TEAM_TOKEN: TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "close");
  await once(child.stderr, "data");
  const watched = { server, child, said: "", ended, edit: () => writeFileSync(join(directory, "team/a.md"), "edited\n") };
  child.stderr.on("data", (part) => { watched.said += part; });
  return watched;
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]]) {
  test(`team watch uploads what is left on ${signal}`, { skip: process.platform === "win32" }, async (t) => {
    const watched = await watching(t);
    watched.edit();
    watched.child.kill(signal);
    assert.deepEqual(await watched.ended, [code, null]);
    assert.equal(watched.server.entries.get("a.md"), "edited\n");
    assert.equal(watched.said, "sent: 1\n");
  });
}

test("team watch says what it could not upload, and the second signal ends it", { skip: process.platform === "win32" }, async (t) => {
  const silent = async () => {
    const watched = await watching(t);
    watched.asked = new Promise((resolve) => {
      watched.server.meddle = () => {
        resolve();
        return true;
      };
    });
    watched.edit();
    watched.child.kill("SIGINT");
    return watched;
  };
  const patient = await silent();
  assert.deepEqual(await patient.ended, [130, null]);
  assert.match(patient.said, /^team\/a\.md: it is not uploaded yet: [^\n]*\n$/);
  const hasty = await silent();
  await hasty.asked;
  hasty.child.kill("SIGINT");
  assert.deepEqual(await hasty.ended, [null, "SIGINT"]);
});

test("many programs that save at the same time", async (t) => {
  const directory = store(t);
  const save = (index) => memdir(["save", "--type", "project", "--name", `Plan ${index}`, "--dir", directory], { input: `${index}` });
  const results = await Promise.all(Array.from({ length: 8 }, (_, index) => save(index)));
  assert.deepEqual(new Set(results.map(({ code }) => code)), new Set([0]));
  const library = await Memdir.open({ directory });
  assert.equal((await library.scan()).memories.length, 8);
  assert.equal(readFileSync(join(directory, "MEMORY.md"), "utf8").trimEnd().split("\n").length, 8);
  assert.deepEqual(readdirSync(join(directory, ".memdir")), [".gitignore"]);
});

test("memory that is off", async (t) => {
  const [cwd, config] = [folder(t), folder(t)];
  const env = { CLAUDE_CONFIG_DIR: config, CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" };
  const { code, stdout } = await memdir(["prompt", "--json"], { cwd, env });
  assert.deepEqual([code, JSON.parse(stdout)], [0, { prompt: null }]);
  assert.deepEqual(readdirSync(config), []);
});

test("HOME that is empty, relative, no text, or not set", async (t) => {
  const cwd = folder(t);
  for (const HOME of ["", "relative"]) {
    const { code, stdout, stderr } = await memdir(["path"], { cwd, env: { HOME } });
    assert.deepEqual([code, stdout], [1, ""], HOME);
    assert.match(stderr, /\[no-home\]/);
  }
  // The account of the user has a home directory all the same.
  const { code, stdout } = await memdir(["path", "--json"], { cwd, env: { HOME: undefined } });
  assert.equal(code, 0);
  assert.ok(JSON.parse(stdout).chosenBy !== "default" || stdout.includes(userInfo().homedir));
});

test("an environment that is no text", { skip: process.platform === "win32" }, async (t) => {
  const cwd = folder(t);
  const script = `HOME=$(printf '/h\\377') CLAUDE_CODE_DISABLE_AUTO_MEMORY=$(printf '1\\377') exec "$0" "$@"`;
  const { code, stderr } = await run("sh", ["-c", script, process.execPath, CLI, "path"], { cwd });
  assert.equal(code, 1);
  assert.match(stderr, /\[no-home\]/);
});

test("a working directory that was removed", { skip: process.platform === "win32" }, async (t) => {
  const [gone, directory] = [join(folder(t), "gone"), store(t, { "a.md": memory("a") })];
  mkdirSync(gone);
  const script = 'rmdir "$PWD" && exec "$0" "$@"';
  const start = (...args) => {
    mkdirSync(gone, { recursive: true });
    return run("sh", ["-c", script, process.execPath, CLI, ...args], { cwd: gone, env: { CLAUDE_CONFIG_DIR: directory } });
  };
  const project = await start("path");
  assert.deepEqual([project.code, project.stdout], [1, ""]);
  assert.match(project.stderr, /cwd.*\[invalid-argument\]/);
  const given = await start("scan", "--dir", directory);
  assert.equal(given.code, 0, given.stderr);
  assert.match(given.stdout, /a\.md/);
  assert.equal(existsSync(gone), false);
});

/** A repository with instructions of several kinds, and a user. */
function instructed(t) {
  const root = folder(t);
  const at = (...parts) => join(root, ...parts);
  repository(at("repo"));
  mkdirSync(at("repo/.claude/rules"), { recursive: true });
  mkdirSync(at("config"));
  writeFileSync(at("repo/CLAUDE.md"), "Use tabs. See @docs.md and @gone.md.\n");
  writeFileSync(at("repo/docs.md"), "Documentation.\n");
  writeFileSync(at("repo/.claude/rules/ts.md"), "---\npaths: \"*.ts\"\n---\nNo any.\n");
  const env = { CLAUDE_CONFIG_DIR: at("config"), HOME: at("home") };
  return { at, memdir: (args, options = {}) => memdir(args, { cwd: at("repo"), ...options, env: { ...env, ...options.env } }), env };
}

test("instructions: a table, a tree, the text, JSON, and what comes with a file", async (t) => {
  const { at, memdir, env } = instructed(t);
  const library = await Memdir.open({ cwd: at("repo"), home: env.HOME, env });
  const json = await memdir(["instructions", "--json"]);
  assert.deepEqual([json.code, json.stderr], [0, ""]);
  const loaded = JSON.parse(json.stdout);
  assert.deepEqual(loaded, await library.instructions());

  const table = await memdir(["instructions"]);
  assert.deepEqual([table.code, table.stderr], [0, ""]);
  assert.match(table.stdout, /^STATUS +SOURCE +LINES +BYTES +FILE\n/);
  const row = (status, source, rest) => new RegExp(`^${status} +${source} +${rest}`, "m");
  assert.match(table.stdout, row("loaded", "project file", `1 +37 +${at("repo/CLAUDE.md")}$`));
  assert.match(table.stdout, row("loaded", "project import", `1 +15 +${at("repo/docs.md")} \\(imported by ${at("repo/CLAUDE.md")}\\)$`));
  assert.match(table.stdout, row("skipped", "project import", `- +- +${at("repo/gone.md")} .*\\[import-missing\\]$`));
  assert.match(table.stdout, row("conditional", "project rule", `4 +\\d+ +${at("repo/.claude/rules/ts.md")} \\(for \\*\\.ts\\)$`));
  assert.match(table.stdout, /\nloaded: 2, conditional: 1, skipped: 1\n$/);

  const tree = (await memdir(["instructions", "--tree"])).stdout.split("\n");
  assert.equal(tree[0], at("repo/CLAUDE.md"));
  assert.equal(tree[1], `  ${at("repo/docs.md")}`);
  assert.match(tree[2], /^  \[skipped\] .*gone\.md/);
  assert.match(tree[3], /^\[conditional\] .*ts\.md/);

  const text = await memdir(["instructions", "--text"]);
  assert.equal(text.stdout, `${loaded.text}\n`);
  assert.match(text.stderr, /gone\.md.*\[import-missing\]\n$/);
  const file = await memdir(["instructions", "src/a.ts", "--text"]);
  assert.match(file.stdout, /about files that match \*\.ts\):\n\nNo any\.\n$/);
  const none = await memdir(["instructions", "src/a.js"]);
  assert.match(none.stdout, /^conditional +project rule .*ts\.md/m);
  const off = await memdir(["instructions", "--no-project"]);
  assert.deepEqual([off.code, off.stdout, off.stderr], [0, "", "there are no instructions\n"]);
  assert.equal((await memdir(["instructions", "a", "b"])).code, 2);
  assert.equal((await memdir(["scan", "--tree"])).code, 2);
});

test("context prints what the library gives", async (t) => {
  const { at, memdir, env } = instructed(t);
  const { text, ...rest } = await (await Memdir.open({ cwd: at("repo"), home: env.HOME, env })).context();
  const plain = await memdir(["context"]);
  assert.deepEqual([plain.code, plain.stdout], [0, `${text}\n`]);
  assert.match(plain.stderr, /gone\.md.*\[import-missing\]\n$/);
  const json = await memdir(["context", "--json", "--approve", "../outside"]);
  assert.deepEqual(JSON.parse(json.stdout), { text, ...rest });
});

/** An editor that notes how it was called, and writes into the file that it was given last. */
function editor(t, name) {
  const log = join(folder(t), name);
  writeFileSync(log, `#!/bin/sh\nfor file; do :; done\necho "$@" >> "$0.log"\necho edited >> "$file"\n`, { mode: 0o755 });
  return { command: log, calls: () => (existsSync(`${log}.log`) ? readFileSync(`${log}.log`, "utf8").trimEnd().split("\n") : []) };
}

test("edit: by name and by number, with the editor that is set", { skip: process.platform === "win32" }, async (t) => {
  const { at, memdir } = instructed(t);
  const [visual, plain] = [editor(t, "visual"), editor(t, "plain")];
  const env = { EDITOR: `${plain.command} --wait` };
  const listed = await memdir(["edit", "--json"]);
  assert.equal(listed.code, 0, listed.stderr);
  const { files } = JSON.parse(listed.stdout);
  assert.deepEqual(files.slice(0, 3).map(({ path, depth, exists }) => [path, depth, exists]), [
    [at("config/CLAUDE.md"), 0, false],
    [at("repo/CLAUDE.md"), 0, true],
    [at("repo/docs.md"), 1, true],
  ]);

  const named = await memdir(["edit", "docs.md"], { env });
  assert.equal(named.code, 0, named.stderr);
  assert.deepEqual(plain.calls(), [`--wait ${at("repo/docs.md")}`]);
  assert.equal(readFileSync(at("repo/docs.md"), "utf8"), "Documentation.\nedited\n");
  assert.ok(named.stderr.includes(plain.command) && named.stderr.includes("EDITOR"));

  const numbered = await memdir(["edit"], { env: { ...env, VISUAL: visual.command }, input: "1\n" });
  assert.equal(numbered.code, 0, numbered.stderr);
  assert.match(numbered.stdout, /^ +1 +.*config\/CLAUDE\.md \(the user's instructions, new\)\n +2 /);
  assert.deepEqual([visual.calls(), plain.calls().length], [[at("config/CLAUDE.md")], 1]);
  assert.equal(readFileSync(at("config/CLAUDE.md"), "utf8"), "edited\n");
  assert.ok(numbered.stderr.includes("VISUAL"));
});

test("edit: nothing chosen, nothing of that name, no editor", { skip: process.platform === "win32" }, async (t) => {
  const { at, memdir } = instructed(t);
  const { command, calls } = editor(t, "editor");
  const env = { EDITOR: command };
  for (const input of ["\n", "", "  \r\n"]) {
    const { code, stderr } = await memdir(["edit"], { env, input });
    assert.equal(code, 0);
    assert.match(stderr, /cancelled; nothing was opened\n$/);
  }
  for (const input of ["99\n", "nonsense\n"]) {
    const { code, stderr } = await memdir(["edit"], { env, input });
    assert.equal(code, 1);
    assert.match(stderr, /nothing called .*\[not-found\]\n$/);
  }
  assert.deepEqual(calls(), []);
  assert.equal(existsSync(at("config/CLAUDE.md")), false);
  const missing = await memdir(["edit", "docs.md"], { env: { EDITOR: join(at("repo"), "missing") } });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /EDITOR.*\[not-found\]\n$/);
  const failing = await memdir(["edit", "docs.md"], { env: { EDITOR: "false" } });
  assert.equal(failing.code, 1);
  assert.match(failing.stderr, /ended with 1/);
});

test("edit: Ctrl-C instead of an answer", { skip: process.platform === "win32" }, async (t) => {
  const { at, env } = instructed(t);
  const child = spawn(process.execPath, [CLI, "edit"], { cwd: at("repo"), env: { PATH: process.env.PATH, ...env }, stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  for await (const part of child.stderr) {
    if (String(part).includes("Which one?")) {
      break;
    }
  }
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [130, null]);
});

test("edit: at a terminal, which the editor has next", { skip: !existsSync("/usr/bin/script") }, async (t) => {
  const { at, env } = instructed(t);
  const path = join(folder(t), "editor");
  // What it reads comes from the terminal, behind the line that was read before.
  writeFileSync(path, '#!/bin/sh\n[ -t 0 ] || exit 3\necho ready\nread -r line\necho "$line" > "$1"\n', { mode: 0o755 });
  const command = `'${process.execPath}' '${CLI}' edit`;
  const options = { cwd: at("repo"), env: { PATH: process.env.PATH, ...env, EDITOR: path, TERM: "dumb" }, stdio: ["pipe", "pipe", "inherit"] };
  const child = spawn("/usr/bin/script", ["--quiet", "--return", "--command", command, "/dev/null"], options);
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  const answers = [["Which one?", "2\n"], ["ready", "typed\n"]];
  child.stdout.on("data", (part) => {
    said += part;
    if (answers.length > 0 && said.includes(answers[0][0])) {
      child.stdin.write(answers.shift()[1]);
    }
  });
  assert.deepEqual(await once(child, "exit"), [0, null], said);
  assert.equal(readFileSync(at("repo/CLAUDE.md"), "utf8"), "typed\n");
  assert.match(said, /was opened with/);
});
