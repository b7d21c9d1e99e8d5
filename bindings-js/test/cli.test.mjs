// The program `memdir` as it is installed: the streams, the exit codes, a reader that goes away.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Memdir } from "memdir";

import { memory, store } from "./support/folders.mjs";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

function memdir(args, { cwd, closeOutput = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
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
