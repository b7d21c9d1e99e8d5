// Saving and forgetting over real folders: what is written, what stays to the byte, what is refused,
// and that writers at the same time lose nothing.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import fc from "fast-check";
import matter from "gray-matter";
import { Memdir } from "memdir";

import { code, folder, memory, store } from "./support/folders.mjs";

const require = createRequire(import.meta.url);
const { hostInfo } = require("../dist/system.js");
const POSIX = process.platform !== "win32";
const ROLE = { type: "user", name: "Role", description: "Go veteran", body: "Knows Go." };

test("a new memory: its file, its line in the index, and what it leaves", async (t) => {
  const path = join(folder(t), "memory");
  const memdir = await Memdir.open({ directory: path });
  const before = Date.now();
  const saved = await memdir.save(ROLE);
  const text = readFileSync(join(path, "user_role.md"), "utf8");
  assert.match(text, /^---\nname: Role\ndescription: Go veteran\ntype: user\nmodified: \S+\n---\n\nKnows Go\.\n$/);
  assert.deepEqual(saved, {
    outcome: "written",
    path: "user_role.md",
    absolutePath: join(path, "user_role.md"),
    hash: hash(text),
    created: true,
    indexChanged: true,
    code: null,
    message: null,
    report: [],
  });
  assert.equal(readFileSync(join(path, "MEMORY.md"), "utf8"), "- [Role](user_role.md) — Go veteran\n");
  const { header, content, body, hash: read } = await memdir.read("user_role.md");
  assert.deepEqual([content, body, read], [text, "Knows Go.", saved.hash]);
  assert.ok(header.modifiedMs >= before && header.modifiedMs <= Date.now());
  assert.deepEqual((await memdir.lint()).findings, []);
  assert.deepEqual(readdirSync(join(path, ".memdir")), [".gitignore"]);
  if (POSIX) {
    assert.deepEqual([mode(path), mode(join(path, "user_role.md"))], [0o700, 0o600]);
  }
});

test("the same once more changes nothing; another of that name gets a file of its own", async (t) => {
  const { memdir, bytes } = await opened(t);
  const first = await memdir.save(ROLE);
  const before = bytes();
  assert.deepEqual(await memdir.save(ROLE), { ...first, outcome: "unchanged", created: false, indexChanged: false });
  assert.deepEqual(bytes(), before);
  const other = await memdir.save({ ...ROLE, body: "Knows Rust." });
  assert.deepEqual([other.outcome, other.path, other.created], ["written", "user_role_2.md", true]);
  assert.equal((await memdir.scan()).memories.length, 2);
});

test("body and hash of a read are what the next save takes", async (t) => {
  const { memdir, path, bytes } = await opened(t);
  await memdir.save({ ...ROLE, body: "\n\nTwo lines,\n\nwith a gap.\n\n" });
  const read = await memdir.read("user_role.md");
  assert.equal(read.body, "Two lines,\n\nwith a gap.");
  const before = bytes();
  const same = await memdir.save({ path: "user_role.md", body: read.body, expect: read.hash });
  assert.deepEqual([same.outcome, same.hash], ["unchanged", read.hash]);
  assert.deepEqual(bytes(), before);

  const changed = await memdir.save({ path: "user_role.md", body: `${read.body}\nMore.`, expect: read.hash });
  assert.deepEqual([changed.outcome, changed.created, changed.indexChanged], ["written", false, false]);
  const { header, body, hash } = await memdir.read("user_role.md");
  assert.deepEqual([header.name, header.type, body, hash], ["Role", "user", "Two lines,\n\nwith a gap.\nMore.", changed.hash]);
  assert.deepEqual(trash(path), [{ path: "user_role.md", reason: "replaced", text: before["user_role.md"] }]);
});

test("a memory that is not as expected is left alone", async (t) => {
  const { memdir, path, bytes } = await opened(t);
  const { hash: old } = await memdir.save(ROLE);
  writeFileSync(join(path, "user_role.md"), memory("somebody else's"));
  const { hash: now } = await memdir.read("user_role.md");
  const before = bytes();
  for (const [work, code, hash] of [
    [() => memdir.save({ path: "user_role.md", body: "x", expect: old }), "exists", now],
    [() => memdir.save({ path: "user_role.md", body: "x", expect: "absent" }), "exists", now],
    [() => memdir.save({ ...ROLE, path: "gone.md", expect: old }), "not-found", null],
    [() => memdir.forget("user_role.md", { expect: old }), "exists", now],
    [() => memdir.forget("gone.md", { expect: old }), "not-found", null],
  ]) {
    const result = await work();
    assert.deepEqual([result.outcome, result.code, result.hash, result.created], ["conflict", code, hash, false], String(work));
    assert.match(result.message, /read/);
  }
  assert.deepEqual(bytes(), before);
  assert.equal((await memdir.save({ ...ROLE, path: "new.md", expect: "absent" })).outcome, "written");
  assert.equal((await memdir.save({ path: "user_role.md", body: "x", expect: now })).outcome, "written");
});

test("what a rule forbids is a result, not an error, and nothing is touched", async (t) => {
  const { memdir, path, bytes } = await opened(t);
  writeFileSync(join(path, "list.md"), "---\n- a\n- b\n---\n\nText.\n");
  writeFileSync(join(path, "latin.md"), Buffer.from([0x63, 0xe9]));
  mkdirSync(join(path, "folder.md"));
  const before = bytes();
  for (const [memory, code] of [
    [{}, "invalid-argument"],
    [{ name: "x" }, "invalid-argument"],
    [{ type: "user" }, "invalid-argument"],
    [{ type: "user", name: " \n " }, "invalid-argument"],
    [{ path: "new.md", body: "x" }, "invalid-argument"],
    [{ path: "MEMORY.md", body: "x" }, "invalid-argument"],
    [{ path: "team/memory.md", body: "x" }, "invalid-argument"],
    [{ ...ROLE, path: "note.txt" }, "invalid-argument"],
    [{ ...ROLE, path: "a.md", scope: "team" }, "invalid-argument"],
    [{ ...ROLE, expect: "sha256:1" }, "invalid-argument"],
    [{ ...ROLE, body: "a\0b" }, "invalid-text"],
    [{ ...ROLE, path: "../a.md" }, "path-outside-store"],
    [{ ...ROLE, path: "/a.md" }, "path-outside-store"],
    [{ ...ROLE, path: ".memdir/a.md" }, "path-outside-store"],
    [{ ...ROLE, scope: "team" }, "user-private"],
    [{ path: "list.md", name: "x" }, "frontmatter-invalid"],
    [{ path: "latin.md", body: "x" }, "not-text"],
    [{ ...ROLE, path: "folder.md" }, "is-a-directory"],
    [{ ...ROLE, body: "x".repeat(5 << 20) }, "too-large"],
    [{ ...ROLE, description: "x".repeat(70_000) }, "too-large"],
  ]) {
    const result = await memdir.save(memory);
    const shown = JSON.stringify(memory).slice(0, 80);
    assert.deepEqual([result.outcome, result.code, result.created, result.hash], ["refused", code, false, null], shown);
    assert.ok(result.message.length > 20, shown);
    assert.equal(result.path === null, result.absolutePath === null, shown);
  }
  for (const [path, code] of [
    ["gone.md", "not-found"],
    ["MEMORY.md", "invalid-argument"],
    ["../a.md", "path-outside-store"],
    ["folder.md", "is-a-directory"],
  ]) {
    const result = await memdir.forget(path);
    assert.deepEqual([result.outcome, result.code], ["refused", code], path);
  }
  for (const [path, code] of [[null, "not-found"], ["gone.md", "not-found"], ["x", "invalid-argument"]]) {
    const result = await memdir.undoForget(path);
    assert.deepEqual([result.outcome, result.code], ["refused", code], path);
  }
  assert.deepEqual(bytes(), before);
});

test("every byte that is not asked to change stays", async (t) => {
  const { memdir, path } = await opened(t);
  const old = [
    "\ufeff---",
    "# by hand",
    "type: project   # the type",
    "name: 'Old name'",
    "tags: [a,  b]",
    "metadata:",
    "    node_type: memory",
    "---",
    "",
    "",
    "Body \t",
    "of two lines.",
    "",
  ].join("\r\n");
  writeFileSync(join(path, "a.md"), old);
  writeFileSync(join(path, "MEMORY.md"), "\ufeff# Notes\r\n\r\n* [Old](a.md): mine\r\n- [b](b.md)\r\n\r\nEnd");
  const untimed = (text) => text.replace(/modified: \S+\r\n/, "");

  assert.equal((await memdir.save({ path: "a.md", description: "new: \"one\"" })).outcome, "written");
  const described = readFileSync(join(path, "a.md"), "utf8");
  assert.equal(untimed(described), old.replace("memory\r\n---", 'memory\r\ndescription: "new: \\"one\\""\r\n---'));

  assert.equal((await memdir.save({ path: "a.md", name: "New name", body: "One.\nTwo." })).outcome, "written");
  const renamed = readFileSync(join(path, "a.md"), "utf8");
  const wanted = untimed(described).replace("'Old name'", "New name").replace("Body \t\r\nof two lines.", "One.\r\nTwo.");
  assert.equal(untimed(renamed), wanted);
  assert.equal(
    readFileSync(join(path, "MEMORY.md"), "utf8"),
    '\ufeff# Notes\r\n\r\n* [New name](a.md) — new: "one"\r\n- [b](b.md)\r\n\r\nEnd',
  );
  assert.equal((await memdir.read("a.md")).body, "One.\r\nTwo.");
});

test("forgetting moves to the trash, and can be taken back", async (t) => {
  const { memdir, path, bytes } = await opened(t);
  await memdir.save(ROLE);
  await memdir.save({ type: "project", name: "Plan" });
  const before = bytes();
  const { hash: old } = await memdir.read("user_role.md");
  const forgotten = await memdir.forget("user_role.md", { expect: old });
  assert.deepEqual(forgotten, {
    outcome: "written",
    path: "user_role.md",
    absolutePath: join(path, "user_role.md"),
    hash: null,
    created: false,
    indexChanged: true,
    code: null,
    message: null,
    report: [],
  });
  assert.deepEqual((await memdir.scan()).memories.map(({ path }) => path), ["project_plan.md"]);
  assert.equal(bytes()["MEMORY.md"], "- [Plan](project_plan.md)\n");
  assert.deepEqual(trash(path), [{ path: "user_role.md", reason: "forgotten", text: before["user_role.md"] }]);
  assert.equal((await memdir.forget("user_role.md")).code, "not-found");

  const back = await memdir.undoForget();
  assert.deepEqual([back.outcome, back.path, back.hash, back.created, back.indexChanged], ["written", "user_role.md", old, true, true]);
  assert.equal(bytes()["user_role.md"], before["user_role.md"]);
  assert.equal(bytes()["MEMORY.md"], before["MEMORY.md"], "the line is back where it was");
  assert.deepEqual(trash(path), []);

  await memdir.forget("user_role.md");
  await memdir.forget("project_plan.md");
  await memdir.save({ ...ROLE, body: "Anew." });
  const conflict = await memdir.undoForget("user_role.md");
  assert.deepEqual([conflict.outcome, conflict.code], ["conflict", "exists"]);
  assert.equal((await memdir.undoForget()).path, "project_plan.md");
  assert.equal((await memdir.read("user_role.md")).body, "Anew.");
});

test("what is no text can be forgotten", async (t) => {
  const { memdir, path } = await opened(t);
  writeFileSync(join(path, "latin.md"), Buffer.from([0x63, 0xe9]));
  assert.equal((await memdir.forget("latin.md")).outcome, "written");
  assert.equal((await memdir.undoForget("latin.md")).outcome, "written");
  assert.deepEqual([...readFileSync(join(path, "latin.md"))], [0x63, 0xe9]);
});

test("team memory has its own folder and index, and remembers what was forgotten", async (t) => {
  const { memdir, path, bytes } = await opened(t, { features: { team: true } });
  const saved = await memdir.save({ type: "project", name: "Plan", description: "of the release" });
  assert.deepEqual([saved.outcome, saved.path], ["written", "team/project_plan.md"]);
  assert.equal(bytes()["team/MEMORY.md"], "- [Plan](project_plan.md) — of the release\n");
  assert.equal((await memdir.save({ type: "project", name: "Mine", scope: "private" })).path, "project_mine.md");
  assert.equal((await memdir.save(ROLE)).path, "user_role.md");
  assert.equal((await memdir.save({ path: "team/project_plan.md", type: "user" })).code, "user-private");

  const forgotten = await memdir.forget("team/project_plan.md");
  assert.deepEqual([forgotten.outcome, forgotten.report.map(({ path, code }) => [path, code])], [
    "written",
    [["team/project_plan.md", "team-keeps-copy"]],
  ]);
  const tombstones = () => JSON.parse(readFileSync(join(path, ".memdir", "tombstones.json"), "utf8"));
  assert.deepEqual(tombstones(), { "team/project_plan.md": saved.hash });
  assert.equal((await memdir.undoForget()).outcome, "written");
  assert.deepEqual(tombstones(), {});
  assert.equal(bytes()["team/MEMORY.md"], "- [Plan](project_plan.md) — of the release\n");
});

test("saving in one step leaves the index alone", async (t) => {
  const { memdir, bytes } = await opened(t, { features: { oneStep: true } });
  const saved = await memdir.save(ROLE);
  assert.deepEqual([saved.outcome, saved.indexChanged], ["written", false]);
  assert.deepEqual(Object.keys(bytes()), ["user_role.md"]);
});

test("wrong arguments, and text that is none", async (t) => {
  const { memdir, bytes } = await opened(t);
  for (const wrong of [undefined, null, "x", [], 1]) {
    await assert.rejects(memdir.save(wrong), code("invalid-argument"), String(wrong));
  }
  const fields = ["type", "name", "description", "body", "scope", "path", "expect"];
  for (const field of fields) {
    for (const wrong of [1, {}, [], true, Buffer.from("x")]) {
      await assert.rejects(memdir.save({ ...ROLE, [field]: wrong }), code("invalid-argument"), field);
    }
    await assert.rejects(memdir.save({ ...ROLE, [field]: "a\ud800" }), code("invalid-text"), field);
  }
  for (const wrong of [{ type: "other" }, { scope: "both" }, { title: "x" }, { signal: AbortSignal.abort() }]) {
    await assert.rejects(memdir.save({ ...ROLE, ...wrong }), code("invalid-argument"), JSON.stringify(wrong));
  }
  await assert.rejects(memdir.save(ROLE, { signal: {} }), code("invalid-argument"));
  await assert.rejects(memdir.save(ROLE, { expect: "absent" }), code("invalid-argument"));
  for (const wrong of [undefined, null, 1, {}]) {
    await assert.rejects(memdir.forget(wrong), code("invalid-argument"), String(wrong));
  }
  await assert.rejects(memdir.forget("a\udc00.md"), code("invalid-text"));
  await assert.rejects(memdir.forget("a.md", { expect: 1 }), code("invalid-argument"));
  await assert.rejects(memdir.forget("a.md", { expect: "\ud800" }), code("invalid-text"));
  await assert.rejects(memdir.forget("a.md", { force: true }), code("invalid-argument"));
  await assert.rejects(memdir.undoForget({}), code("invalid-argument"));
  await assert.rejects(memdir.undoForget("\ud800.md"), code("invalid-text"));
  await assert.rejects(memdir.undoForget(null, { path: "a.md" }), code("invalid-argument"));
  assert.deepEqual(bytes(), {});
  // Null is nothing, as everywhere.
  const nulls = Object.fromEntries(fields.map((field) => [field, null]));
  assert.equal((await memdir.save({ ...nulls, ...ROLE })).outcome, "written");
});

test("nothing is written when memory is off", async (t) => {
  const path = join(folder(t), "memory");
  const memdir = await Memdir.open({ directory: path, env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } });
  for (const work of [() => memdir.save(ROLE), () => memdir.forget("a.md"), () => memdir.undoForget()]) {
    await assert.rejects(work, code("disabled"));
  }
  assert.equal(existsSync(path), false);
});

test("what the disk refuses is an error", { skip: !POSIX || process.geteuid() === 0 }, async (t) => {
  const { memdir, path, bytes } = await opened(t);
  await memdir.save(ROLE);
  chmodSync(path, 0o500);
  try {
    await assert.rejects(memdir.save({ ...ROLE, name: "Other" }), code("permission"));
    await assert.rejects(memdir.forget("user_role.md"), code("permission"));
  } finally {
    chmodSync(path, 0o700);
  }
  assert.deepEqual([Object.keys(bytes()), leftovers(path)], [["MEMORY.md", "user_role.md"], []]);
});

test("a signal cancels, and nothing is left of it", async (t) => {
  const { memdir, path, bytes } = await opened(t);
  const reason = new Error("no longer");
  for (const work of [
    (options) => memdir.save(ROLE, options),
    (options) => memdir.forget("a.md", options),
    (options) => memdir.undoForget(null, options),
  ]) {
    const failed = await work({ signal: AbortSignal.abort(reason) }).catch((error) => error);
    assert.deepEqual([failed.code, failed.cause], ["aborted", reason]);
  }
  assert.deepEqual([bytes(), leftovers(path)], [{}, []]);

  // Somebody else's lock, of another machine, so that nobody knows whether it is dead.
  lock(path, { hostId: "another", pid: 1 });
  const stop = new AbortController();
  const waiting = memdir.save(ROLE, { signal: stop.signal });
  setTimeout(() => stop.abort(reason), 50);
  const begun = performance.now();
  await assert.rejects(waiting, (error) => error.code === "aborted" && error.cause === reason);
  assert.ok(performance.now() - begun < 3000);
  assert.deepEqual([bytes(), leftovers(path)], [{}, ["lock"]]);
});

test("a signal at any time: all of it or nothing, and no lock", async (t) => {
  const { memdir, path, bytes } = await opened(t);
  const begun = performance.now();
  await memdir.save(ROLE);
  const whole = performance.now() - begun;
  let written = 0;
  for (let round = 0; round < 60; round += 1) {
    const stop = new AbortController();
    const saving = memdir.save({ ...ROLE, body: `Round ${round}.`, path: `r${round}.md` }, { signal: stop.signal });
    const end = performance.now() + (whole * round) / 40;
    while (performance.now() < end) {
      await new Promise(setImmediate);
    }
    stop.abort();
    const outcome = await saving.then(({ outcome }) => outcome, ({ code }) => code);
    assert.ok(["written", "aborted"].includes(outcome), outcome);
    const { [`r${round}.md`]: file, "MEMORY.md": index = "" } = bytes();
    const lines = index.split(`(r${round}.md)`).length - 1;
    assert.equal(lines, file === undefined ? 0 : 1, `round ${round}`);
    assert.ok(file !== undefined || outcome === "aborted", `round ${round}`);
    assert.deepEqual(leftovers(path), []);
    written += lines;
  }
  console.log(`${written} of 60 came too late to change anything`);
});

test("the lock of a process that has died is taken at once", async (t) => {
  const { memdir, path } = await opened(t);
  await memdir.save(ROLE);
  const { hostId } = hostInfo()["host-info"];
  const { pid } = spawnSync(process.execPath, ["--eval", ""]);
  lock(path, { hostId, pid });
  const begun = performance.now();
  assert.equal((await memdir.save({ ...ROLE, name: "Other" })).outcome, "written");
  assert.ok(performance.now() - begun < 3000);
  assert.deepEqual(leftovers(path), []);
});

for (const count of [1, 2]) {
  test(`200 saves at the same time through ${count} of Memdir: all are there, once`, async (t) => {
    const path = folder(t);
    const memdirs = await Promise.all(Array.from({ length: count }, () => Memdir.open({ directory: path })));
    const begun = performance.now();
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        // Every tenth has the name of the one before.
        memdirs[index % count].save({ type: "project", name: `Plan ${index - (index % 10 === 9 ? 1 : 0)}`, body: `Number ${index}.` }),
      ),
    );
    console.log(`200 saves: ${(performance.now() - begun).toFixed(0)} ms`);
    assert.ok(results.every(({ outcome, created }) => outcome === "written" && created));
    const paths = results.map(({ path }) => path);
    assert.equal(new Set(paths).size, 200);
    const index = readFileSync(join(path, "MEMORY.md"), "utf8");
    assert.deepEqual(index.trimEnd().split("\n").map((line) => /\(([^)]+)\)/.exec(line)[1]).sort(), paths.toSorted());
    for (const [number, { path: name, hash: written }] of results.entries()) {
      const { body, hash } = await memdirs[0].read(name);
      assert.deepEqual([body, hash], [`Number ${number}.`, written]);
    }
    assert.deepEqual(leftovers(path), []);
  });
}

test("saves and forgets of the same memory at the same time", async (t) => {
  const { memdir, path } = await opened(t);
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? memdir.save({ ...ROLE, path: "a.md", body: `Number ${index}.` }) : memdir.forget("a.md"),
    ),
  );
  assert.ok(results.every(({ outcome, code }) => outcome === "written" || code === "not-found"));
  const there = existsSync(join(path, "a.md"));
  const index = readFileSync(join(path, "MEMORY.md"), "utf8");
  assert.equal(index, there ? "- [Role](a.md) — Go veteran\n" : "");
  assert.deepEqual(leftovers(path), []);
});

test("whatever is saved is read back, by us and by gray-matter", async (t) => {
  const { memdir, path } = await opened(t);
  const odd = fc.constantFrom(
    ...[": ", " #", "- ", "'", '"', "\\", "\n", "\r\n", "\r", "\t", "---", "\n---\n", "\n...\n", "&a ", "*a", "!x ", "%", "@", "`"],
    ...["{", "[", "|", ">", "? ", "~", "yes", "null", "0x1f", "1_000", "2026-01-01", "<<", "=", "\u0085", "\u2028", "\ufeff"],
    ...["\u0007", "\u{1F469}\u200d\u{1F469}", "e\u0301", "](", "<!--", "\ufffe", "\u{10ffff}", "\u00a0", "name: x"],
  );
  const part = fc.oneof(odd, fc.string({ unit: "binary", maxLength: 12 }), fc.string({ unit: "grapheme-ascii", maxLength: 12 }));
  // NUL is refused, see above.
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join("").replaceAll("\0", ""));
  const type = fc.constantFrom("user", "feedback", "project", "reference");
  let number = 0;
  await fc.assert(
    fc.asyncProperty(type, text.filter((name) => trimmed(name) !== ""), fc.option(text), fc.option(text), async (...given) => {
      const [type, name, description, body] = given;
      number += 1;
      const asked = { type, name, description, body, path: `m${number}.md` };
      const saved = await memdir.save(asked);
      assert.deepEqual([saved.outcome, saved.code], ["written", null]);
      const wanted = [type, trimmed(name), trimmed(description ?? ""), surrounded((body ?? "").replaceAll("\r\n", "\n"))];

      const { header, content, body: read, hash } = await memdir.read(saved.path);
      assert.deepEqual([header.type, header.name, header.description ?? "", read], wanted);
      assert.equal(hash, saved.hash);

      // With options it caches nothing.
      const other = matter(content, {});
      assert.deepEqual([other.data.type, other.data.name, other.data.description ?? "", surrounded(other.content)], wanted);

      const again = await memdir.save({ ...asked, body: read });
      assert.equal(again.outcome, "unchanged");
    }),
    { numRuns: 200 },
  );
  const codes = (await memdir.lint()).findings.map(({ code }) => code);
  for (const code of ["index-link-broken", "not-indexed", "index-duplicate", "index-line-too-long", "frontmatter-repaired"]) {
    assert.ok(!codes.includes(code), code);
  }
  assert.deepEqual(leftovers(path), []);
});

/** White space as the core trims it: as JavaScript does, and U+0085. */
function trimmed(text) {
  return text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, "");
}

/** Without the line ends around it. */
function surrounded(body) {
  return body.replace(/^[\r\n]+|[\r\n]+$/g, "");
}

/** An open store in a new folder, and a look at the bytes of all files that are its user's. */
async function opened(t, options = {}) {
  const path = store(t);
  const memdir = await Memdir.open({ directory: path, ...options });
  const bytes = () => {
    const names = readdirSync(path, { recursive: true }).filter((name) => !name.startsWith(".memdir"));
    const files = names.filter((name) => statSync(join(path, name)).isFile()).sort();
    return Object.fromEntries(files.map((name) => [name.replaceAll("\\", "/"), readFileSync(join(path, name), "utf8")]));
  };
  return { memdir, path, bytes };
}

/** What lies in the trash, oldest first. */
function trash(path) {
  const place = join(path, ".memdir", "trash");
  const names = readdirSync(place).sort();
  const items = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  assert.deepEqual(names, items.flatMap((item) => [`${item}.bytes`, `${item}.json`]));
  return items.map((item) => {
    const { path, reason } = JSON.parse(readFileSync(join(place, `${item}.json`), "utf8"));
    return { path, reason, text: readFileSync(join(place, `${item}.bytes`), "utf8") };
  });
}

/** What no writer may leave: a lock, and files that wait for their rename. */
function leftovers(path) {
  const own = join(path, ".memdir");
  const kept = [".gitignore", "origin", "trash", "tombstones.json", "uses.json"];
  return existsSync(own) ? readdirSync(own).filter((name) => !kept.includes(name)) : [];
}

function lock(path, holder) {
  mkdirSync(join(path, ".memdir"), { recursive: true });
  writeFileSync(join(path, ".memdir", "lock"), JSON.stringify({ token: "x", ...holder }));
}

function hash(text) {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function mode(path) {
  return statSync(path).mode & 0o777;
}

test("what root saves in a user's store belongs to the user", { skip: process.geteuid?.() !== 0 && "needs root" }, async (t) => {
  const path = folder(t);
  chownSync(path, 1000, 1000);
  const memdir = await Memdir.open({ directory: path });
  await memdir.save({ type: "user", name: "Role", body: "x", path: "sub/role.md" });
  for (const made of [".memdir", ".memdir/.gitignore", "sub", "sub/role.md", "MEMORY.md"]) {
    const { uid, gid } = statSync(join(path, made));
    assert.deepEqual([uid, gid], [1000, 1000], made);
  }
});
