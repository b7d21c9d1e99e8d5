// The loop and the effects that tests/conformance cannot cover: HTTP, the user's functions, waiting,
// cancelling, and the contract between the loop and the core.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { Memdir, MemdirError } from "memdir";

import { perform } from "./support/flows.mjs";
import { folder, memory, store } from "./support/folders.mjs";
import { serve } from "./support/servers.mjs";

const require = createRequire(import.meta.url);
const { call, core } = require("../dist/core.js");
const { answer, PART } = require("../dist/pack.js");
const UNIX = process.platform !== "win32";

const get = (url, rest = {}) => ({
  kind: "http",
  method: "GET",
  url,
  headers: [],
  body: null,
  timeoutMs: 20_000,
  maxBytes: 1000,
  ...rest,
});
const failed = (outcome) => outcome.failed?.code;

test("http: a whole exchange", async (t) => {
  let seen;
  const url = await serve(t, async (request, response) => {
    const parts = [];
    for await (const part of request) {
      parts.push(part);
    }
    seen = { method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() };
    response.writeHead(418, { "X-Zulu": "z", "content-type": "text/plain", "X-Alpha": "a, b" });
    response.end("héllo");
  });
  const [outcome] = await perform([
    get(`${url}/a?b=c`, {
      method: "PUT",
      headers: [
        { name: "X-Key", value: "secret" },
        { name: "if-match", value: '"1"' },
        { name: "accept-encoding", value: "gzip" },
      ],
      body: { text: "bödy" },
    }),
  ]);
  assert.equal(seen.method, "PUT");
  assert.equal(seen.url, "/a?b=c");
  assert.equal(seen.body, "bödy");
  assert.equal(seen.headers["x-key"], "secret");
  assert.equal(seen.headers["if-match"], '"1"');
  assert.equal(seen.headers["accept-encoding"], "identity");
  assert.equal(seen.headers["content-type"], undefined);
  assert.equal(outcome.http.status, 418);
  assert.equal(Buffer.from(outcome.http.body).toString(), "héllo");
  const names = outcome.http.headers.map(({ name }) => name);
  assert.deepEqual(names, names.toSorted());
  assert.deepEqual(
    outcome.http.headers.filter(({ name }) => name.startsWith("x-")),
    [
      { name: "x-alpha", value: "a, b" },
      { name: "x-zulu", value: "z" },
    ],
  );
});

test("http: no body, bytes, redirects that are not followed", async (t) => {
  const url = await serve(t, (request, response) => {
    if (request.url === "/redirect") {
      response.writeHead(302, { location: "/elsewhere" }).end();
    } else if (request.url === "/empty") {
      response.writeHead(204).end();
    } else {
      request.pipe(response);
    }
  });
  const bytes = Uint8Array.of(0, 255, 10);
  const [redirect, empty, head, echo] = await perform([
    get(`${url}/redirect`),
    get(`${url}/empty`),
    get(`${url}/empty`, { method: "HEAD" }),
    get(`${url}/echo`, { method: "POST", body: { bytes } }),
  ]);
  assert.equal(redirect.http.status, 302);
  assert.deepEqual(
    redirect.http.headers.find(({ name }) => name === "location"),
    { name: "location", value: "/elsewhere" },
  );
  assert.equal(empty.http.status, 204);
  assert.equal(head.http.body.length, 0);
  assert.deepEqual([...echo.http.body], [...bytes]);
});

test("http: too much, too slow, broken off, nobody there, nonsense", async (t) => {
  let sent = 0;
  const url = await serve(t, (request, response) => {
    if (request.url === "/endless") {
      const more = () => {
        sent += 1;
        return response.write(Buffer.alloc(1000)) ? setImmediate(more) : response.once("drain", more);
      };
      more();
      request.on("close", () => response.destroy());
    } else if (request.url === "/slow-body") {
      response.writeHead(200).write("x");
    } else if (request.url === "/broken") {
      response.writeHead(200, { "content-length": "100" }).write("x");
      setTimeout(() => response.destroy(), 10);
    } else if (request.url === "/exact") {
      response.end("0123456789");
    }
  });
  const started = performance.now();
  const outcomes = await perform([
    get(`${url}/endless`, { maxBytes: 100_000 }),
    get(`${url}/exact`, { maxBytes: 10 }),
    get(`${url}/exact`, { maxBytes: 9 }),
    get(`${url}/never`, { timeoutMs: 100 }),
    get(`${url}/slow-body`, { timeoutMs: 100 }),
    get(`${url}/broken`),
    get("http://127.0.0.1:1/"),
    get("http://host.invalid/"),
    get("file:///etc/passwd"),
    get("http://"),
    get(url, { headers: [{ name: "bad name", value: "x" }] }),
    get(url, { headers: [{ name: "x-key", value: "secret\n" + "secret" }] }),
    get(url.replace("//", "//me:secret@")),
  ]);
  assert.equal(outcomes[1].http.status, 200);
  assert.deepEqual(outcomes.map(failed), [
    "too-large",
    undefined,
    "too-large",
    "timeout",
    "timeout",
    "network",
    "network",
    "network",
    "unsupported",
    "other",
    "other",
    "other",
    "other",
  ]);
  assert.ok(!JSON.stringify(outcomes).includes("secret"));
  assert.ok(performance.now() - started < 10_000);
  assert.ok(sent < 100_000, "reading stopped");
});

test("model: the user's function, and what it may do wrong", async () => {
  const ask = (model, timeoutMs = 20_000) => perform([{ kind: "model", request: '{"q":1}', timeoutMs }], { user: { model } });
  let asked;
  const [good] = await ask(async (request, { signal }) => {
    asked = [request, signal instanceof AbortSignal];
    return '{"a":1}';
  });
  assert.deepEqual(good, { text: '{"a":1}' });
  assert.deepEqual(asked, [{ q: 1 }, true]);
  assert.deepEqual((await ask(() => "sync"))[0], { text: "sync" });
  assert.deepEqual((await ask(() => Promise.reject(new Error("no key"))))[0], {
    failed: { code: "other", message: "no key" },
  });
  assert.equal(failed((await ask(() => { throw new Error("x"); }))[0]), "other");
  assert.equal(failed((await ask(() => 5))[0]), "other");
  assert.equal(failed((await ask(() => "\ud800"))[0]), "other");
  let aborted;
  const [late] = await ask((_, { signal }) => {
    signal.addEventListener("abort", () => { aborted = true; });
    return new Promise(() => {});
  }, 30);
  assert.equal(failed(late), "timeout");
  assert.equal(aborted, true);
});

test("token: the user's function, and what it may do wrong", async () => {
  const ask = (token, timeoutMs = 20_000) => perform([{ kind: "token", timeoutMs }], { user: { token } });
  let given;
  assert.deepEqual((await ask(async (...args) => { given = args; return "t"; }))[0], { text: "t" });
  assert.ok(given.length === 1 && given[0].signal instanceof AbortSignal);
  assert.deepEqual((await ask(() => "sync"))[0], { text: "sync" });
  assert.equal(failed((await ask(undefined))[0]), "unsupported");
  assert.deepEqual((await ask(() => Promise.reject(new Error("locked"))))[0], { failed: { code: "other", message: "locked" } });
  for (const token of [() => { throw new Error("x"); }, () => 5, () => undefined, () => "\ud800", () => ["t"], () => new String("t")]) {
    assert.equal(failed((await ask(token))[0]), "other", String(token));
  }
  let aborted;
  const [late] = await ask(({ signal }) => {
    signal.addEventListener("abort", () => { aborted = true; });
    return new Promise(() => {});
  }, 30);
  assert.equal(failed(late), "timeout");
  assert.equal(aborted, true);
});

test("model: it may use the store that calls it", async (t) => {
  const memdir = await Memdir.open({ directory: store(t, { "a.md": memory("a") }) });
  const [outcome] = await perform([{ kind: "model", request: "{}", timeoutMs: 20_000 }], {
    user: { model: async () => JSON.stringify((await memdir.scan()).memories.map(({ path }) => path)) },
  });
  assert.deepEqual(outcome, { text: '["a.md"]' });
});

test("watch: a change, none, no folder", async (t) => {
  const path = folder(t);
  const watch = (path, timeoutMs) => perform([{ kind: "watch", path, timeoutMs }]);
  const changed = watch(path, 20_000);
  const timer = setInterval(() => writeFileSync(join(path, "a.md"), String(performance.now())), 20);
  assert.deepEqual([...(await changed)], [{ changed: true }]);
  clearInterval(timer);
  assert.deepEqual([...(await watch(folder(t), 50))], [{ changed: false }]);
  assert.equal(failed((await watch(join(path, "missing"), 50))[0]), "not-found");
});

test("open-editor: a program with its arguments, waited for", { skip: !UNIX }, async (t) => {
  const path = folder(t);
  const script = join(path, "editor.sh");
  writeFileSync(script, '#!/bin/sh\n[ "$1" = --wait ] || exit 3\necho edited > "$2"\n');
  chmodSync(script, 0o755);
  const file = join(path, "a b.md");
  const edit = (...argv) => perform([{ kind: "open-editor", argv }]);
  assert.deepEqual([...(await edit(script, "--wait", file))], ["done"]);
  assert.equal(readFileSync(file, "utf8"), "edited\n");
  assert.deepEqual((await edit(script, file))[0], { failed: { code: "other", message: `the editor ${script} ended with 3` } });
  assert.equal(failed((await edit(join(path, "missing"), file))[0]), "not-found");
  assert.equal(failed((await edit(script, "a\0b"))[0]), "invalid-name");
  assert.equal(failed((await edit())[0]), "invalid-name");
});

test("open-editor: Ctrl-C in it is meant for it", { skip: !UNIX }, async (t) => {
  const path = folder(t);
  const script = join(path, "editor.sh");
  writeFileSync(script, '#!/bin/sh\nkill -INT $PPID\nsleep 0.2\n');
  chmodSync(script, 0o755);
  let interrupted = 0;
  const listen = () => { interrupted += 1; };
  process.on("SIGINT", listen);
  t.after(() => process.off("SIGINT", listen));
  assert.deepEqual([...(await perform([{ kind: "open-editor", argv: [script] }]))], ["done"]);
  assert.equal(interrupted, 0);
  assert.deepEqual(process.listeners("SIGINT"), [listen], "it is heard again");
});

/** A program that reads `count` lines of its standard input; what the lines were is what it prints. */
function readingLines(t, count, maxBytes) {
  const flows = new URL("./support/flows.mjs", import.meta.url);
  const script = `
    import { perform } from ${JSON.stringify(flows.href)};
    for (let read = 0; read < ${count}; read += 1) {
      const [outcome] = await perform([{ kind: "read-stdin", maxBytes: ${maxBytes}, line: true }]);
      console.log(outcome.failed?.code ?? JSON.stringify(Buffer.from(outcome.content).toString()));
    }
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  let said = "";
  child.stdout.on("data", (part) => { said += part; });
  const ended = once(child, "close").then(() => said.trimEnd().split("\n"));
  return { stdin: child.stdin, ended };
}

test("read-stdin: a line, and the program ends although the input does not", async (t) => {
  const slow = readingLines(t, 1, 100);
  slow.stdin.write("tw");
  await pause(100);
  slow.stdin.write("o \u2713\r\nmore");
  assert.deepEqual(await slow.ended, ['"two \u2713"']);

  const several = readingLines(t, 4, 100);
  several.stdin.end("a\n\nb");
  assert.deepEqual(await several.ended, ['"a"', '""', '"b"', '""'], "nothing is left, and there is no more to wait for");

  const long = readingLines(t, 2, 3);
  long.stdin.write("abc\r\nabcd\n");
  assert.deepEqual(await long.ended, ['"abc"', "too-large"]);
  const endless = readingLines(t, 1, 3);
  endless.stdin.write("x".repeat(1000));
  assert.deepEqual(await endless.ended, ["too-large"]);
});

test("approve: the user's function, and what it may do wrong", async () => {
  const approve = { kind: "approve", path: "/srv/a.md", parent: "/p/CLAUDE.md", timeoutMs: 20_000 };
  const ask = (approveImport, timeoutMs = 20_000) => perform([{ ...approve, timeoutMs }], { user: { approveImport } });
  let given;
  assert.deepEqual((await ask((...args) => { given = args; return true; }))[0], { approved: true });
  assert.deepEqual(given, ["/srv/a.md", "/p/CLAUDE.md"]);
  assert.deepEqual((await ask(async () => false))[0], { approved: false });
  assert.equal(failed((await ask(undefined))[0]), "unsupported");
  assert.deepEqual((await ask(() => Promise.reject(new Error("no window"))))[0], {
    failed: { code: "other", message: "no window" },
  });
  for (const wrong of [() => { throw new Error("x"); }, () => "yes", () => undefined, () => 1]) {
    assert.equal(failed((await ask(wrong))[0]), "other", String(wrong));
  }
  assert.equal(failed((await ask(() => new Promise(() => {}), 30))[0]), "timeout");
});

test("effects of a step are performed at once, and slow ones do not hold up files", async (t) => {
  const path = store(t, { "a.md": "x" });
  const started = performance.now();
  await perform([
    ...Array.from({ length: 5 }, () => ({ kind: "sleep", ms: 150 })),
    ...Array.from({ length: 500 }, () => ({ kind: "read", path: join(path, "a.md"), within: null, offset: 0, length: 10 })),
  ]);
  assert.ok(performance.now() - started < 700);
});

test("cancelling stops what waits", async (t) => {
  const url = await serve(t, () => {});
  const sleeper = UNIX ? ["/bin/sleep", "30"] : ["cmd", "/c", "pause"];
  const effects = {
    http: get(url),
    model: { kind: "model", request: "{}", timeoutMs: 20_000 },
    token: { kind: "token", timeoutMs: 20_000 },
    approve: { kind: "approve", path: "/a", parent: "/b", timeoutMs: 20_000 },
    sleep: { kind: "sleep", ms: 20_000 },
    run: { kind: "run", argv: sleeper, cwd: folder(t), env: [], stdin: null, timeoutMs: 20_000, maxBytes: 10 },
    watch: { kind: "watch", path: folder(t), timeoutMs: 20_000 },
  };
  const never = () => new Promise(() => {});
  const user = { model: never, token: never, approveImport: never };
  for (const [name, effect] of Object.entries(effects)) {
    const controller = new AbortController();
    const started = performance.now();
    setTimeout(() => controller.abort(), 30);
    const result = await perform([effect], { user, signal: controller.signal });
    assert.equal(failed(result[0]), "aborted", name);
    assert.equal(result.cancelled, true);
    assert.ok(performance.now() - started < 5000, name);
  }
});

test("a long listing comes in parts, each entry once", async (t) => {
  const path = folder(t);
  const names = Array.from({ length: 2 * PART + 1 }, (_, index) => `${index}.md`).sort();
  names.forEach((name) => writeFileSync(join(path, name), name));
  const [{ listing }] = await perform([{ kind: "list", path, within: null }]);
  assert.deepEqual(listing.entries.map(({ name }) => name).sort(), names);
  assert.ok(listing.entries.every(({ name, stat }) => stat.size === name.length));
  assert.equal(listing.incomplete, false);
});

test("cancelling lets files finish", async (t) => {
  const path = folder(t);
  const controller = new AbortController();
  const file = join(path, "a.md");
  const writing = perform(
    [
      { kind: "write", path: file, within: null, content: { text: "x" }, via: join(path, "a.memdir-tmp"), mode: 0o600 },
      { kind: "list", path, within: null },
      { kind: "sleep", ms: 20_000 },
    ],
    { signal: controller.signal },
  );
  controller.abort();
  const [write, list, sleep] = await writing;
  assert.equal(write, "done");
  assert.ok("listing" in list);
  assert.equal(failed(sleep), "aborted");
  assert.deepEqual(readdirSync(path), ["a.md"]);
});

test("an operation that is cancelled ends with `aborted` and the reason, wherever it was", async (t) => {
  const path = store(t, { "a.md": memory("a"), "b.md": memory("b") });
  const memdir = await Memdir.open({ directory: path });
  const reason = new Error("enough");
  const aborted = (error) => error instanceof MemdirError && error.code === "aborted" && error.cause === reason;
  for (const start of ["open", "scan", "manifest", "read", "prompt", "recall"]) {
    for (let turns = -1; turns < 8; turns += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      if (turns < 0) {
        controller.abort(reason);
      }
      const running = {
        open: () => Memdir.open({ directory: path, signal }),
        scan: () => memdir.scan({ signal }),
        manifest: () => memdir.manifest({ signal }),
        read: () => memdir.read("a.md", { signal }),
        prompt: () => memdir.prompt({ signal }),
        recall: () => memdir.recall("body of a", { signal }),
      }[start]();
      let ended = false;
      running.then(() => { ended = true; }, () => {});
      for (let turn = 0; turn < turns; turn += 1) {
        await new Promise(setImmediate);
      }
      if (ended) {
        break;
      }
      controller.abort(reason);
      // What had ended by then has its value; everything else says that it was cancelled.
      await running.catch((error) => assert.ok(aborted(error), `${start} after ${turns}: ${error}`));
      if (turns < 0) {
        await assert.rejects(running, aborted);
      }
    }
  }
  assert.deepEqual(readdirSync(path).sort(), ["a.md", "b.md"]);
  assert.equal((await memdir.scan()).memories.length, 2, "the store is as good as before");
});

test("a signal that is used again and again collects no listeners", async (t) => {
  const memdir = await Memdir.open({ directory: store(t, { "a.md": memory("a") }) });
  const { signal } = new AbortController();
  const warnings = [];
  const listen = (warning) => warnings.push(warning);
  process.on("warning", listen);
  t.after(() => process.off("warning", listen));
  for (let round = 0; round < 30; round += 1) {
    await memdir.scan({ signal });
  }
  await Promise.all(Array.from({ length: 30 }, () => memdir.scan({ signal })));
  await perform(Array.from({ length: 30 }, () => ({ kind: "sleep", ms: 1 })));
  assert.deepEqual(warnings, []);
});

const FAILURE = { code: "other", message: "x" };
const OUTCOMES = {
  Done: "done",
  Listing: {
    listing: { parts: [{ names: "a", numbers: Float64Array.of(-1, 0, 0, 0, 0, 0, 0, 0) }], incomplete: false },
  },
  Content: { content: Uint8Array.of(1) },
  Heads: { heads: { contents: Uint8Array.of(1), lengths: Int32Array.of(1, -1), failures: [FAILURE] } },
  Stat: {
    stat: { kind: "file", size: 1, mtimeMs: -1, mtimeNs: 1, ctimeMs: null, inode: 2 ** 53 - 1, mode: 0o600 },
  },
  Text: { text: "x" },
  Alive: { alive: true },
  Http: { http: { status: 200, headers: [{ name: "a", value: "b" }], body: Uint8Array.of(1) } },
  Ran: { ran: { exitCode: null, stdout: Uint8Array.of(1), stderr: new Uint8Array() } },
  Now: { now: { ms: 1, offsetMinutes: -60 } },
  Changed: { changed: true },
  Approved: { approved: true },
};

/** Hands over a whole outcome at once. */
function give(flow, id, outcome) {
  for (const _ of answer(flow, id, outcome));
}

test("the core takes every kind of outcome, and refuses the wrong one with `protocol`", () => {
  const instance = core();
  for (const [kind, outcome] of Object.entries(OUTCOMES)) {
    const flow = new instance.Store({ directory: "/tmp/memory" }).open();
    assert.equal(flow.resume().effects[0].effect.kind, "host-info");
    give(flow, 0, outcome);
    assert.throws(
      () => call(instance, () => flow.resume()),
      (error) => error.code === "protocol" && error.message.includes(`not Some(${kind})`),
      kind,
    );
  }
});

test("a contract that is broken gives `protocol`, never a trap", () => {
  const instance = core();
  const start = () => {
    const flow = new instance.Store({ directory: "/tmp/memory" }).open();
    flow.resume();
    return flow;
  };
  const info = { "host-info": { hostId: "x", pid: 1, platform: "posix" } };
  const cases = {
    "a wrong id": [{ id: 7, outcome: info }],
    "no answer": [],
    "two answers": [
      { id: 0, outcome: info },
      { id: 0, outcome: info },
    ],
    "no outcome": [{ id: 0 }],
    "an unknown outcome": [{ id: 0, outcome: { nonsense: 1 } }],
    "a wrong shape": [{ id: 0, outcome: { "host-info": { hostId: 1 } } }],
  };
  for (const [name, answers] of Object.entries(cases)) {
    const flow = start();
    const go = () => {
      answers.forEach(({ id, outcome }) => give(flow, id, outcome));
      flow.resume();
    };
    assert.throws(() => call(instance, go), (error) => error.code === "protocol", name);
  }
  const packed = {
    "names without numbers": (flow) => flow.answerListing(0, "a\0b", new Float64Array(8), false),
    "half a row of numbers": (flow) => flow.answerListing(0, "a", new Float64Array(7), false),
    "an unknown kind of file": (flow) => flow.answerListing(0, "a", new Float64Array(8).fill(9), false),
    "bytes without heads": (flow) => flow.answerHeads(0, Uint8Array.of(1), new Int32Array(0), []),
    "heads without bytes": (flow) => flow.answerHeads(0, new Uint8Array(0), Int32Array.of(1), []),
    "heads without a failure": (flow) => flow.answerHeads(0, new Uint8Array(0), Int32Array.of(-1), []),
  };
  for (const [name, give] of Object.entries(packed)) {
    assert.throws(() => call(instance, () => give(start())), (error) => error.code === "protocol", name);
  }
  const flow = start();
  flow.answer(0, info);
  for (const { id } of flow.resume().effects) {
    flow.answer(id, { failed: { code: "not-found", message: "x" } });
  }
  assert.equal(flow.resume().done.directory, "/tmp/memory/");
  assert.throws(() => call(instance, () => flow.resume()), (error) => error.code === "protocol");
});

test("a trap is `internal`, spoils its own stores only, and the next use starts afresh", async (t) => {
  const path = store(t, { "a.md": memory("a") });
  const old = await Memdir.open({ directory: path });
  const instance = core();
  const controller = new AbortController();
  const pending = old.scan({ signal: controller.signal });
  setImmediate(() => controller.abort());
  const trap = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  assert.throws(
    () => call(instance, trap),
    (error) => error.code === "internal" && error.family === "engine" && error.cause instanceof WebAssembly.RuntimeError,
  );
  await assert.rejects(old.scan(), (error) => error.code === "internal");
  await assert.rejects(pending, (error) => error.code === "internal", "one that ran, cancelled after the trap");
  await old.close();
  const fresh = await Memdir.open({ directory: path });
  assert.equal((await fresh.scan()).memories.length, 1);
  assert.notEqual(core(), instance);
});

test("nothing is left behind by a write that fails", { skip: !UNIX }, async (t) => {
  const path = store(t, { "a.md": "old" });
  const via = join(path, "b.memdir-tmp");
  const [outcome] = await perform([
    { kind: "write", path: join(path, "missing", "a.md"), within: null, content: { text: "new" }, via, mode: 0o600 },
  ]);
  assert.equal(failed(outcome), "not-found");
  assert.equal(existsSync(via), false);
});

test("a folder that the system will never make is a failure, not a wait", { skip: !existsSync("/proc/self") }, async () => {
  const [outcome] = await perform([{ kind: "make-dir", path: "/proc/memdir/sub", within: null, mode: 0o700 }]);
  assert.equal(typeof outcome.failed?.code, "string");
});
