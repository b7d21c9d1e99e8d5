// Secrets: found and taken out by the rules, kept out of team memories, and told of without being told.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Memdir } from "memdir";
import { redactSecrets, scanSecrets } from "memdir/rules";

import { code, store } from "./support/folders.mjs";
import { githubToken } from "./support/tokens.mjs";

const TOKEN = githubToken();

test("where a secret is and of which kind, in bytes of UTF-8", () => {
  const text = `é 👩 first\r\nthe key is ${TOKEN}.\n`;
  const [finding, ...more] = scanSecrets(text);
  assert.deepEqual(more, []);
  const { start, end, label, ...rest } = finding;
  assert.deepEqual(rest, { rule: "github-pat", line: 2 });
  assert.equal(Buffer.from(text).subarray(start, end).toString(), TOKEN);
  assert.ok(label.length > 0);
  assert.ok(!JSON.stringify(finding).includes(TOKEN));
  assert.deepEqual(scanSecrets("ghp_ is how they begin\n"), []);
  assert.deepEqual(scanSecrets(""), []);
});

test("a secret is taken out, and all else stays", () => {
  const text = (token) => `\uFEFFone ${token}\r\ntwo "${token}"\n`;
  assert.equal(redactSecrets(text(TOKEN)), text("[secret removed: github-pat]"));
  assert.equal(redactSecrets(redactSecrets(text(TOKEN))), redactSecrets(text(TOKEN)));
  assert.equal(redactSecrets("no secret\r\n"), "no secret\r\n");
});

test("what is no text", () => {
  for (const rule of [scanSecrets, redactSecrets]) {
    assert.throws(() => rule(5), code("invalid-argument"));
    assert.throws(() => rule("\ud800"), code("invalid-text"));
  }
});

test("saving: a private memory with a secret is reported, a team memory refused", async (t) => {
  const directory = store(t);
  const events = [];
  const memdir = await Memdir.open({ directory, home: null, env: {}, features: { team: true }, onEvent: (event) => events.push(event) });
  const memory = { type: "project", name: "Keys", body: `One.\n${TOKEN}` };
  const team = await memdir.save(memory);
  assert.deepEqual([team.outcome, team.code], ["refused", "secret-found"]);
  assert.match(team.message, /^line 8 /);
  assert.equal(existsSync(join(directory, "team")), false);
  const own = await memdir.save({ ...memory, scope: "private" });
  assert.equal(own.outcome, "written");
  assert.deepEqual(own.report.map(({ path, code }) => [path, code]), [[own.path, "secret-found"]]);
  assert.ok(readFileSync(own.absolutePath, "utf8").includes(TOKEN));
  const told = JSON.stringify([team, own, events, await memdir.scan(), await memdir.lint(), await memdir.manifest()]);
  assert.ok(!told.includes(TOKEN));
});
