// Team memory over real folders and a server on this machine: what goes which way, what is kept, who is
// asked for a token, and what becomes of servers that are none.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { inspect } from "node:util";

import { Memdir, MemdirError } from "memdir";

import { code, folder, memory } from "./support/folders.mjs";
import { git, repository } from "./support/git.mjs";
import { serve } from "./support/servers.mjs";
import { checksum, json, NOTHING, REPOSITORY, teammate, teamServer, TOKEN } from "./support/team.mjs";
import { githubToken } from "./support/tokens.mjs";

/** Fails when a part of the token is in something, however it is looked at. */
function tokenless(value, what) {
  const shown = [String(value), value?.stack ?? "", JSON.stringify(value) ?? "", inspect(value, { depth: null, showHidden: true })];
  assert.ok(!shown.join("\n").includes(TOKEN.slice(0, 20)), `the token is in ${what}: ${shown[3]}`);
}

/** The codes of a report with their paths. */
const codes = ({ report }) => Object.fromEntries(report.map(({ path, code }) => [path, code]));

/** Waits until something holds. */
async function until(holds, what) {
  for (const end = performance.now() + 10_000; performance.now() < end; await setTimeout(20)) {
    if (holds()) {
      return;
    }
  }
  assert.fail(`never: ${what}`);
}

test("two folders share memories; a second pull is one question and touches nothing", async (t) => {
  const server = await teamServer(t);
  const [ada, bob] = [await teammate(t, server, { features: { team: true } }), await teammate(t, server)];
  const note = { type: "project", name: "Deploy", description: "how checkout is deployed", body: "With a script. ☕" };
  assert.equal((await ada.memdir.save(note)).path, "team/project_deploy.md");
  assert.ok((await ada.memdir.prompt()).includes(ada.at("")), "and the prompt tells of it");
  ada.write("sub/a.md", memory("a"));
  const keys = ["MEMORY.md", "project_deploy.md", "sub/a.md"];
  assert.deepEqual(await ada.team.sync(), { ...NOTHING, sent: keys });
  assert.deepEqual([...server.entries.keys()].sort(), keys);
  server.asked();

  assert.deepEqual(await bob.team.pull(), { ...NOTHING, received: keys });
  for (const key of keys) {
    assert.equal(bob.read(key), ada.read(key), key);
    utimesSync(bob.at(key), 1_700_000_000, 1_700_000_000);
  }
  assert.deepEqual((await bob.memdir.scan()).memories.map(({ path, scope }) => [path, scope]).sort(), [
    ["team/project_deploy.md", "team"],
    ["team/sub/a.md", "team"],
  ]);
  assert.deepEqual(await bob.team.pull(), NOTHING);
  assert.deepEqual(await bob.team.sync(), NOTHING);
  assert.deepEqual(server.asked(), ["GET 200", "GET 304", "GET 304"]);
  for (const key of keys) {
    assert.equal(statSync(bob.at(key)).mtimeMs, 1_700_000_000_000, key);
  }

  bob.write("sub/a.md", memory("b"));
  server.asked();
  assert.deepEqual((await bob.team.push()).sent, ["sub/a.md"]);
  assert.deepEqual(server.requests.map(({ body }) => Object.keys(JSON.parse(body).entries)), [["sub/a.md"]], "and no more than that");
  assert.deepEqual((await ada.team.sync()).received, ["sub/a.md"]);
  assert.equal(ada.read("sub/a.md"), memory("b"));
});

test("what both have changed is kept, shown, restored and dropped", async (t) => {
  const server = await teamServer(t, { "a.md": "old\n", "b.md": "old\n" });
  const { team, read, write, directory } = await teammate(t, server);
  await team.pull();
  for (const key of ["a.md", "b.md"]) {
    server.entries.set(key, "theirs\n");
    write(key, `ours of ${key} ☕\n`);
  }
  const before = Date.now();
  const result = await team.sync();
  assert.deepEqual({ ...result, report: [] }, { ...NOTHING, received: ["a.md", "b.md"], conflicts: ["a.md", "b.md"] });
  assert.deepEqual(codes(result), { "team/a.md": "team-conflict", "team/b.md": "team-conflict" });
  assert.deepEqual([read("a.md"), server.entries.get("a.md")], ["theirs\n", "theirs\n"]);

  const conflicts = await team.conflicts();
  assert.deepEqual(conflicts.map(({ path }) => path), ["team/a.md", "team/b.md"]);
  const [{ id, atMs, size }, other] = conflicts;
  assert.ok(atMs >= before && atMs <= Date.now());
  assert.equal(size, Buffer.byteLength("ours of a.md ☕\n"));
  assert.deepEqual(await team.conflict(id), { id, path: "team/a.md", atMs, content: "ours of a.md ☕\n" });
  assert.deepEqual((await team.status()).conflicts, conflicts);

  const restored = await team.restore(id);
  assert.deepEqual([restored.outcome, restored.path], ["written", "team/a.md"]);
  assert.equal(read("a.md"), "ours of a.md ☕\n");
  assert.deepEqual((await team.push()).sent, ["a.md"]);
  assert.equal(server.entries.get("a.md"), "ours of a.md ☕\n");
  assert.equal(await team.drop(other.id), undefined);
  assert.deepEqual(await team.conflicts(), []);
  assert.deepEqual(readdirSync(join(directory, ".memdir/conflicts")), []);
  for (const gone of [id, other.id, "", "../lock", "x\ud83d\ude00"]) {
    for (const name of ["conflict", "restore", "drop"]) {
      await assert.rejects(team[name](gone), code("not-found"), `${name} ${gone}`);
    }
  }
});

test("index lines of two teammates come together", async (t) => {
  const server = await teamServer(t);
  const [ada, bob] = [await teammate(t, server), await teammate(t, server)];
  ada.write("MEMORY.md", "# Team\n- [A](a.md)\n");
  await ada.team.sync();
  await bob.team.sync();
  ada.write("MEMORY.md", "# Team\n- [A](a.md)\n- [B](b.md)\n");
  bob.write("MEMORY.md", "# Team\n- [A](a.md)\n- [C](c.md)\n");
  assert.deepEqual((await ada.team.push()).sent, ["MEMORY.md"]);
  const merged = await bob.team.sync();
  assert.deepEqual([merged.sent, merged.conflicts, merged.report], [["MEMORY.md"], [], []]);
  await ada.team.sync();
  assert.equal(ada.read("MEMORY.md"), bob.read("MEMORY.md"));
  assert.deepEqual(ada.read("MEMORY.md").trim().split("\n").sort(), ["# Team", "- [A](a.md)", "- [B](b.md)", "- [C](c.md)"]);
});

test("what is nobody else's stays here", async (t) => {
  const server = await teamServer(t);
  const ada = await teammate(t, server);
  ada.write("secret.md", `The token is ${githubToken()}.\n`);
  ada.write("role.md", "---\nname: Role\ntype: user\n---\n");
  ada.write("large.md", "x".repeat(250_001));
  ada.write("latin.md", Buffer.from([0xe9]));
  ada.write("good.md", "good\n");
  const expected = {
    "team/large.md": "team-too-large",
    "team/latin.md": "not-utf8",
    "team/role.md": "team-private",
    "team/secret.md": "secret-found",
  };
  if (process.platform !== "win32") {
    const outside = join(folder(t), "outside.md");
    symlinkSync(outside, ada.at("link.md"));
    expected["team/link.md"] = "team-link";
  }
  const status = await ada.team.status();
  assert.deepEqual([codes(status), status.toSend], [expected, ["good.md"]]);
  const result = await ada.team.push();
  assert.deepEqual([codes(result), result.sent], [expected, ["good.md"]]);
  assert.deepEqual([...server.entries], [["good.md", "good\n"]]);
  assert.ok(!JSON.stringify([status, result]).includes(githubToken()));
});

test("what the server may not make us write", async (t) => {
  const entries = { "good.md": "good\n", "../up.md": "x", "/abs.md": "x", "con.md": "x", "a\u202eb.md": "x", "broken.md": "right" };
  const server = await teamServer(t, entries);
  server.meddle = ({ method }, response) => {
    const wrong = { "broken.md": checksum("wrong") };
    json(response, 200, { version: 1, checksum: "v1", content: { entries, entryChecksums: wrong } });
    return method === "GET";
  };
  const { team, directory } = await teammate(t, server);
  const result = await team.pull();
  assert.deepEqual(result.received, ["good.md"]);
  assert.deepEqual(result.report.map(({ code }) => code).sort(), ["team-checksum", ...Array(4).fill("team-key")]);
  assert.deepEqual(readdirSync(join(directory, "team")).filter((name) => name !== ".memdir"), ["good.md"]);
  assert.equal(existsSync(join(directory, "up.md")), false);
});

test("a token function is asked for each operation, and once more when the server refuses", async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const tokens = [];
  let given = ["first"];
  const { team } = await teammate(t, server, {
    team: {
      token: async ({ signal }) => {
        assert.ok(signal instanceof AbortSignal);
        tokens.push(given.shift() ?? TOKEN);
        return tokens.at(-1);
      },
    },
  });
  await team.status();
  assert.deepEqual(tokens, [], "nobody asks who does not have to");
  assert.deepEqual((await team.pull()).received, ["a.md"]);
  assert.deepEqual(tokens, ["first", TOKEN]);
  assert.deepEqual(server.asked(), ["GET 401", "GET 200"]);
  await team.sync();
  assert.equal(tokens.length, 3);
  given = ["second", "third"];
  await assert.rejects(team.pull(), code("team-auth"));
  assert.deepEqual(tokens.slice(3), ["second", "third"]);
});

test("a token as text is not asked for again; one from the environment counts", async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const wrong = await teammate(t, server, { team: { token: "wrong" } });
  await assert.rejects(wrong.team.pull(), (error) => code("team-auth")(error) && error.family === "team");
  assert.deepEqual(server.asked(), ["GET 401"]);
  const env = { MEMDIR_TEAM_URL: `${server.url}/`, MEMDIR_TEAM_TOKEN: ` ${TOKEN}\n` };
  for (const team of [undefined, null, { repository: REPOSITORY }, { repository: REPOSITORY, url: null, token: undefined, deletions: undefined }]) {
    const root = join(folder(t), "project");
    repository(root);
    git(root, "remote", "add", "origin", `git@example.com:${REPOSITORY}.git`);
    const memdir = await Memdir.open({ directory: folder(t), cwd: root, env, team });
    assert.deepEqual((await memdir.team.pull()).received, ["a.md"], inspect(team));
    const { repository: found, url } = await memdir.team.status();
    assert.deepEqual([found, url], [REPOSITORY, `${server.url}/api/claude_code/team_memory?repo=${REPOSITORY}`]);
    await memdir.close();
  }
});

test("a token function that fails, gives no text, or takes its time", async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const cases = [
    [() => { throw new Error("locked out"); }, "other", /locked out/],
    [() => Promise.reject(new Error("locked out")), "other", /locked out/],
    [() => 5, "other", /the token function must give well-formed text/],
    [() => undefined, "other", /the token function must give well-formed text/],
    [() => "\ud800", "other", /the token function must give well-formed text/],
    [() => " ", "no-token", /no token/],
    [() => "two words", "invalid-argument", /characters that no token has/],
    [() => "t\u00f6ken", "invalid-argument", /characters that no token has/],
  ];
  for (const [token, expected, message] of cases) {
    const { team } = await teammate(t, server, { team: { token } });
    await assert.rejects(team.pull(), (error) => code(expected)(error) && message.test(error.message), String(token));
  }
  assert.deepEqual(server.requests, []);

  const controller = new AbortController();
  let aborted = false;
  const { team } = await teammate(t, server, {
    team: {
      token: ({ signal }) => {
        signal.addEventListener("abort", () => { aborted = true; });
        controller.abort("enough");
        return new Promise(() => {});
      },
    },
  });
  await assert.rejects(team.pull({ signal: controller.signal }), (error) => code("aborted")(error) && error.cause === "enough");
  assert.equal(aborted, true);
});

test("a token function may use the store", async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const { team, memdir } = await teammate(t, server, { team: { token: async () => (await memdir.read("token.md")).body } });
  await memdir.save({ type: "reference", name: "token", path: "token.md", body: TOKEN });
  assert.deepEqual((await team.pull()).received, ["a.md"]);
});

test("the token is in no error, no event, no result and no file", async (t) => {
  const echoes = [
    (response) => json(response, 401, { error: { message: `no: ${TOKEN} ${TOKEN}` } }),
    (response) => json(response, 400, { error: { message: `${"x".repeat(185)}${TOKEN}` } }),
    (response) => json(response, 200, { [TOKEN]: TOKEN }),
    (response) => json(response, 302, { error: { message: TOKEN } }, { location: `http://127.0.0.1:1/?${TOKEN}` }),
    (response) => response.end(TOKEN),
  ];
  for (const token of [TOKEN, () => TOKEN]) {
    for (const echo of echoes) {
      const server = await teamServer(t);
      server.meddle = (_, response) => {
        echo(response);
        return true;
      };
      const { team, write, memdir, events, directory } = await teammate(t, server, { team: { token } });
      write("a.md", "a\n");
      for (const run of [team.pull, team.push, team.sync]) {
        const error = await run().catch((error) => error);
        assert.ok(error instanceof MemdirError, inspect(error));
        tokenless(error, "an error");
      }
      await memdir.close();
      tokenless([memdir, events, await Memdir.open({ directory, env: {} })], "a store or an event");
      assert.ok(events.some(({ code }) => code === "team-not-sent"));
    }
  }
  const server = await teamServer(t);
  const { team, write, directory } = await teammate(t, server);
  write("a.md", "a\n");
  tokenless([await team.sync(), await team.status()], "a result");
  for (const name of readdirSync(directory, { recursive: true })) {
    if (statSync(join(directory, name)).isFile()) {
      tokenless(readFileSync(join(directory, name), "utf8"), name);
    }
  }
  const attempts = [{ token: [TOKEN] }, { token: TOKEN, url: 5 }, { token: `${TOKEN}\ud800` }, { token: TOKEN, deletions: "all" }, { token: TOKEN, other: 1 }];
  for (const team of attempts) {
    const error = await Memdir.open({ directory, env: {}, team }).catch((error) => error);
    assert.ok(error instanceof MemdirError);
    tokenless(error, "an error of opening");
  }
  for (const rest of [{ url: "nowhere" }, { url: `http://me:${TOKEN}@127.0.0.1` }, { url: "http://team.example" }, { token: `${TOKEN} ${TOKEN}` }]) {
    const { team } = await teammate(t, server, { team: rest });
    const error = await team.pull().catch((error) => error);
    assert.ok(code("invalid-argument")(error));
    tokenless(error, "an error of an option");
  }
});

test("a redirect to another host gets no token", async (t) => {
  const server = await teamServer(t);
  let visited = false;
  const elsewhere = await serve(t, (_, response) => {
    visited = true;
    json(response, 200, { version: 1, checksum: "x", content: { entries: {}, entryChecksums: {} } });
  });
  for (const status of [301, 302, 307, 308]) {
    server.meddle = (_, response) => {
      response.writeHead(status, { location: `${elsewhere}/api/claude_code/team_memory` }).end();
      return true;
    };
    const { team, write } = await teammate(t, server);
    write("a.md", "a\n");
    await assert.rejects(team.pull(), code("team-refused"), `${status}`);
    await assert.rejects(team.push(), code("team-refused"), `${status}`);
  }
  assert.equal(visited, false);
});

test("status says how the folder stands, and asks nobody", async (t) => {
  const server = await teamServer(t);
  const { team, write, directory } = await teammate(t, server, { team: { token: () => assert.fail("asked") } });
  const url = `${server.url}/api/claude_code/team_memory?repo=${REPOSITORY}`;
  const never = { repository: REPOSITORY, url, syncedMs: null, toSend: [], conflicts: [], report: [] };
  assert.deepEqual(await team.status(), never);
  write("b.md", "b\n");
  write("a/b.md", "b\n");
  assert.deepEqual(await team.status(), { ...never, toSend: ["a/b.md", "b.md"] });
  assert.deepEqual(server.requests, []);
  const before = Date.now();
  const same = await teammate(t, server, { directory });
  await same.team.sync();
  const { syncedMs, toSend } = await team.status();
  assert.ok(syncedMs >= before && syncedMs <= Date.now());
  assert.deepEqual(toSend, []);
  const alone = await Memdir.open({ directory, cwd: folder(t), env: {} });
  assert.deepEqual(await alone.team.status(), { ...never, repository: null, url: null, toSend: ["a/b.md", "b.md"] });
});

test("what is missing is said", async (t) => {
  const { url } = await teamServer(t);
  const cases = [
    [{ repository: REPOSITORY, token: TOKEN }, "no-server"],
    [{ url, token: TOKEN }, "no-repository"],
    [{ url, repository: REPOSITORY }, "no-token"],
    [{ url, repository: REPOSITORY, token: "" }, "no-token"],
    [{ url, token: TOKEN, repository: "acme" }, "invalid-argument"],
    [{ url, token: TOKEN, repository: "../.." }, "invalid-argument"],
    [{ url: "http://team.example", token: TOKEN, repository: REPOSITORY }, "invalid-argument"],
    [{ url: "ftp://127.0.0.1", token: TOKEN, repository: REPOSITORY }, "invalid-argument"],
  ];
  for (const [team, expected] of cases) {
    const memdir = await Memdir.open({ directory: folder(t), cwd: folder(t), env: {}, team });
    for (const run of [memdir.team.pull, memdir.team.push, memdir.team.sync]) {
      await assert.rejects(run(), code(expected), inspect(team));
    }
    await memdir.close();
  }
  const off = await Memdir.open({ directory: folder(t), env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" }, team: { url, token: TOKEN, repository: REPOSITORY } });
  for (const name of ["pull", "push", "sync", "status", "watch", "conflicts"]) {
    await assert.rejects(off.team[name](), code("disabled"), name);
  }
});

test("options and arguments that are none", async (t) => {
  const directory = folder(t);
  for (const team of [1, "x", [], { url: 1 }, { token: 1 }, { token: {} }, { repository: [] }, { deletions: "all" }, { deletions: true }, { askToken: true }, { Url: "x" }]) {
    await assert.rejects(Memdir.open({ directory, team }), code("invalid-argument"), inspect(team));
  }
  for (const bad of ["\ud800", "x\udc00"]) {
    for (const name of ["url", "token", "repository"]) {
      await assert.rejects(Memdir.open({ directory, team: { [name]: bad } }), code("invalid-text"), name);
    }
  }
  const { team } = await Memdir.open({ directory, env: {} });
  for (const name of ["pull", "push", "sync", "status", "watch", "conflicts"]) {
    for (const options of [null, 5, { other: 1 }, { signal: 1 }]) {
      await assert.rejects(team[name](options), code("invalid-argument"), `${name} ${inspect(options)}`);
    }
  }
  for (const name of ["conflict", "restore", "drop"]) {
    for (const id of [undefined, null, 5, {}]) {
      await assert.rejects(team[name](id), code("invalid-argument"), name);
    }
    await assert.rejects(team[name]("x", { other: 1 }), code("invalid-argument"));
    await assert.rejects(team[name]("\ud800"), code("invalid-text"));
  }
  for (const periodMs of [-1, 0.5, NaN, Infinity, "5", 2 ** 53]) {
    await assert.rejects(team.watch({ periodMs }), code("invalid-argument"), String(periodMs));
  }
});

test("deletions: kept by teammates, or after 7 days gone for all", async (t) => {
  const server = await teamServer(t, { "a.md": "a\n" });
  const ada = await teammate(t, server, { team: { deletions: "propagate" } });
  await ada.team.sync();
  const forgotten = await ada.memdir.forget("team/a.md");
  assert.deepEqual(forgotten.report.map(({ code }) => code), ["team-keeps-copy"]);
  assert.deepEqual(await ada.team.sync(), NOTHING);
  assert.equal(existsSync(ada.at("a.md")), false, "it does not come back");
  const file = join(ada.directory, ".memdir/team.json");
  assert.ok(readFileSync(file, "utf8").includes("leaving"));
  server.entries.set("a.md", "<!-- memdir: deleted -->\n");
  const bob = await teammate(t, server);
  assert.deepEqual(await bob.team.sync(), NOTHING, "what was deleted comes to nobody");
});

test("a pull that is cancelled leaves whole files, and the next one goes on", async (t) => {
  const entries = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m${index}.md`, `${index}\n`.repeat(50)]));
  const server = await teamServer(t, entries);
  const { team, directory } = await teammate(t, server);
  const controller = new AbortController();
  const pulling = team.pull({ signal: controller.signal });
  await until(() => existsSync(join(directory, "team")), "a first file");
  controller.abort();
  await assert.rejects(pulling, code("aborted"));
  for (const name of readdirSync(join(directory, "team"))) {
    assert.equal(readFileSync(join(directory, "team", name), "utf8"), entries[name], name);
  }
  await team.pull();
  assert.deepEqual(readdirSync(join(directory, "team")).filter((name) => name !== ".memdir").sort(), Object.keys(entries).sort());
  const waiting = new AbortController();
  server.meddle = () => {
    waiting.abort();
    return true;
  };
  await assert.rejects(team.pull({ signal: waiting.signal }), code("aborted"), "while the server thinks");
});

test("what takes its time", { concurrency: true }, async (t) => {
  const all = [];
  const slow = (name, run) => all.push(t.test(name, run));

  slow("watch uploads an edit, and ends when the store is closed", async (t) => {
    const server = await teamServer(t, { "a.md": "a\n" });
    const { memdir, team, read, write, events } = await teammate(t, server);
    const watching = team.watch();
    await until(() => events.length === 1, "the first pull");
    assert.equal(read("a.md"), "a\n");
    await setTimeout(300);
    write("b.md", "b\n");
    await until(() => events.length === 2, "the upload");
    assert.equal(server.entries.get("b.md"), "b\n");
    const closing = performance.now();
    await Promise.all([memdir.close(), watching]);
    assert.equal(await watching, undefined);
    assert.ok(performance.now() - closing < 1500);
    assert.deepEqual(events.map(({ kind, message }) => [kind, message]), [["team-sync", "received: 1"], ["team-sync", "sent: 1"]]);
    await assert.rejects(team.watch(), code("closed"));
    await assert.rejects(team.pull(), code("closed"));
  });

  slow("watch brings what teammates change, and ends when it is cancelled", async (t) => {
    const server = await teamServer(t, { "a.md": "a\n" });
    const { team, memdir, read } = await teammate(t, server);
    await team.pull();
    server.asked();
    const controller = new AbortController();
    const watching = team.watch({ periodMs: 1, signal: controller.signal });
    watching.catch(() => {});
    await until(() => server.requests[0]?.status === 304, "the first pull");
    server.entries.set("a.md", "theirs\n");
    await until(() => read("a.md") === "theirs\n", "the second one");
    const reason = new Error("enough");
    controller.abort(reason);
    await assert.rejects(watching, (error) => code("aborted")(error) && error.cause === reason);
    const early = AbortSignal.abort("before");
    await assert.rejects(team.watch({ signal: early }), (error) => code("aborted")(error) && error.cause === "before");
    assert.equal((await memdir.scan()).memories.length, 1, "the store is still of use");
  });

  slow("watch tells what goes wrong, and goes on", async (t) => {
    const server = await teamServer(t, { "a.md": "a\n" });
    server.accepts = "another";
    const { memdir, team, events } = await teammate(t, server);
    const watching = team.watch();
    await until(() => events.length > 0, "an event");
    assert.deepEqual([events[0].kind, events[0].code], ["warning", null]);
    assert.match(events[0].message, /not in sync.*401/);
    await memdir.close();
    assert.equal(await watching, undefined);
  });

  slow("several watches of a store end at once", async (t) => {
    const server = await teamServer(t);
    const { memdir, team } = await teammate(t, server);
    const watching = [team.watch(), team.watch(), team.watch({ signal: new AbortController().signal })];
    await until(() => server.requests.length > 0, "a request");
    await memdir.close();
    assert.deepEqual(await Promise.all(watching), [undefined, undefined, undefined]);
  });

  slow("close uploads an edit, and does nothing of the kind for who never synced", async (t) => {
    const server = await teamServer(t);
    const { memdir, team, write, events, directory } = await teammate(t, server);
    await team.sync();
    write("a.md", "last words\n");
    await memdir.close();
    assert.equal(server.entries.get("a.md"), "last words\n");
    assert.deepEqual(events, []);
    server.asked();
    const other = await teammate(t, server, { directory });
    other.write("b.md", "b\n");
    await other.memdir.close();
    assert.deepEqual(server.asked(), []);
  });

  slow("close waits two seconds for a server, and says what it did not get", async (t) => {
    const server = await teamServer(t);
    const { memdir, team, write, events } = await teammate(t, server);
    await team.sync();
    server.meddle = () => true;
    write("a.md", "a\n");
    const closing = performance.now();
    await memdir.close();
    const took = performance.now() - closing;
    assert.ok(took > 1500 && took < 4000, `${took} ms`);
    assert.deepEqual(events.map(({ kind, path, code }) => [kind, path, code]), [["warning", "team/a.md", "team-not-sent"]]);
  });

  slow("a page in place of an answer, and other things that are none", async (t) => {
    const whole = JSON.stringify({ version: 1, checksum: "x", content: { entries: { "a.md": "a\n" } } });
    const bodies = {
      "a page": "<!doctype html><title>Sign in</title>",
      "half of it": whole.slice(0, -9),
      nothing: "",
      null: "null",
      "a list": "[]",
      "no entries": "{}",
      "a list of entries": JSON.stringify({ content: { entries: ["a.md"] } }),
      "not UTF-8": Buffer.from([0x22, 0xff, 0x22]),
      "deep JSON": "[".repeat(100_000),
    };
    for (const [name, body] of Object.entries(bodies)) {
      const server = await teamServer(t);
      server.meddle = (_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end(body);
        return true;
      };
      const { team, directory } = await teammate(t, server);
      await assert.rejects(team.pull(), (error) => code("team-answer")(error) && error.family === "team", name);
      assert.equal(existsSync(join(directory, "team")), false, name);
      assert.equal(server.requests.length, 1, "it is not asked again");
    }
  });

  slow("a page in answer to an upload", async (t) => {
    const server = await teamServer(t);
    server.meddle = ({ method }, response) => {
      if (method === "PUT") {
        response.end("<html>");
      }
      return method === "PUT";
    };
    const { team, write } = await teammate(t, server);
    write("a.md", "a\n");
    await assert.rejects(team.push(), code("team-answer"));
    assert.deepEqual((await team.status()).toSend, ["a.md"], "it counts as not sent");
  });

  slow("half a body, again and again", async (t) => {
    const server = await teamServer(t);
    server.meddle = (_, response) => {
      response.writeHead(200, { "content-length": "1000" }).write('{"version":1,');
      globalThis.setTimeout(() => response.destroy(), 10);
      return true;
    };
    const { team, directory } = await teammate(t, server);
    await assert.rejects(team.pull(), code("network"));
    assert.equal(server.requests.length, 4, "one try and three more");
    assert.equal(existsSync(join(directory, "team")), false);
  });

  slow("a server that is overloaded, and one that says when to come back", async (t) => {
    const server = await teamServer(t, { "a.md": "a\n" });
    server.meddle = (_, response) => {
      const again = server.requests.length > 1;
      if (!again) {
        response.writeHead(429, { "retry-after": "1" }).end();
      }
      return !again;
    };
    const polite = await teammate(t, server);
    assert.deepEqual((await polite.team.pull()).received, ["a.md"]);
    const pause = server.requests[1].at - server.requests[0].at;
    assert.ok(pause >= 990 && pause < 5000, `${pause} ms`);

    const other = await teamServer(t);
    other.meddle = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    const { team } = await teammate(t, other);
    const started = performance.now();
    await assert.rejects(team.pull(), code("team-busy"));
    assert.equal(other.requests.length, 4);
    assert.ok(performance.now() - started >= 3400, "0.5 s, 1 s, 2 s");
  });

  slow("somebody is always faster", async (t) => {
    const server = await teamServer(t, { "a.md": "0\n" });
    const { team, write, read } = await teammate(t, server);
    await team.pull();
    write("b.md", "ours\n");
    server.meddle = ({ method }, response) => {
      if (method !== "PUT") {
        return false;
      }
      server.entries.set("a.md", `${server.requests.length}\n`);
      response.writeHead(412).end();
      return true;
    };
    await assert.rejects(team.push(), (error) => code("team-conflict")(error) && error.family === "team");
    const puts = server.requests.filter(({ method }) => method === "PUT");
    assert.equal(puts.length, 3, "one try and two more");
    assert.equal(read("b.md"), "ours\n");
    server.meddle = () => false;
    assert.deepEqual((await team.sync()).sent, ["b.md"], "and the next one goes through");
  });

  slow("nobody there", async (t) => {
    const { team } = await teammate(t, { url: "http://127.0.0.1:1" });
    await assert.rejects(team.pull(), code("network"));
  });

  await Promise.all(all);
});

test("many memories go in uploads that a gateway takes", async (t) => {
  const server = await teamServer(t);
  const [ada, bob] = [await teammate(t, server), await teammate(t, server)];
  for (let index = 0; index < 300; index += 1) {
    ada.write(`m${index}.md`, `${index}\n${"text ".repeat(400)}\n`);
  }
  assert.equal((await ada.team.sync()).sent.length, 300);
  const sizes = server.requests.filter(({ method }) => method === "PUT").map(({ body }) => Buffer.byteLength(body));
  assert.ok(sizes.length >= 3 && Math.max(...sizes) <= 200_000, String(sizes));
  assert.equal((await bob.team.sync()).received.length, 300);
  assert.equal(bob.read("m299.md"), ada.read("m299.md"));
  assert.deepEqual(await bob.team.sync(), NOTHING);
});
