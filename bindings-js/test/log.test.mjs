// The log of the day: where it is, what a note becomes, and that writers at the same time lose nothing.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Memdir } from "memdir";

import { code, folder } from "./support/folders.mjs";
import { githubToken } from "./support/tokens.mjs";

/** The log's path by this machine's calendar. */
function today() {
  const now = new Date();
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
  return `logs/${year}/${month}/${year}-${month}-${day}.md`;
}

test("a note is a bullet with the time, appended to the file of the day", async (t) => {
  const directory = join(folder(t), "memory");
  const memdir = await Memdir.open({ directory, home: null, env: {} });
  const days = [today()];
  const first = await memdir.log("  deployed the checkout service\nafter a rollback \n");
  days.push(today());
  assert.ok(days.includes(first.path), first.path);
  assert.deepEqual([first.outcome, first.created, first.indexChanged, first.report], ["written", true, false, []]);
  const second = await memdir.log("- [a](a.md)");
  assert.equal(second.created, false);
  const text = readFileSync(second.absolutePath, "utf8");
  assert.match(text, /^- \d\d:\d\d deployed the checkout service\n {2}after a rollback\n- \d\d:\d\d - \[a\]\(a\.md\)\n$/);
  assert.equal(existsSync(join(directory, "MEMORY.md")), false);
});

test("notes at the same time are all kept", async (t) => {
  const directory = folder(t);
  const stores = await Promise.all([1, 2].map(() => Memdir.open({ directory, home: null, env: {} })));
  const results = await Promise.all(Array.from({ length: 20 }, (_, index) => stores[index % 2].log(`note ${index}.`)));
  const text = readFileSync(results[0].absolutePath, "utf8");
  for (let index = 0; index < 20; index += 1) {
    assert.ok(text.includes(` note ${index}.\n`), String(index));
  }
  assert.equal(text.trimEnd().split("\n").length, 20);
});

test("what is no note, and a note that holds a secret", async (t) => {
  const directory = join(folder(t), "memory");
  const memdir = await Memdir.open({ directory, home: null, env: {} });
  for (const note of ["", " \r\n "]) {
    await assert.rejects(memdir.log(note), code("invalid-argument"));
  }
  await assert.rejects(memdir.log("a\0b"), code("invalid-text"));
  await assert.rejects(memdir.log("\ud800"), code("invalid-text"));
  await assert.rejects(memdir.log(5), code("invalid-argument"));
  await assert.rejects(memdir.log("x", { signal: AbortSignal.abort() }), code("aborted"));
  assert.equal(existsSync(directory), false);
  const token = githubToken();
  const { outcome, report } = await memdir.log(`the key is ${token}`);
  assert.deepEqual([outcome, report.map(({ code }) => code)], ["written", ["secret-found"]]);
  assert.ok(!JSON.stringify(report).includes(token));
  await memdir.close();
  await assert.rejects(memdir.log("x"), code("closed"));
});

test("the prompt of daily logs says where they are", async (t) => {
  const prompt = async (features) => (await Memdir.open({ directory: folder(t), home: null, env: {}, features })).prompt();
  assert.match(await prompt({ dailyLog: true }), /logs\//);
  assert.doesNotMatch(await prompt({}), /logs\//);
});
