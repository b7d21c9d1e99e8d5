// Both ways in which the host keeps below a folder; which one it takes is the system's.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { folder } from "./support/folders.mjs";

const require = createRequire(import.meta.url);
const { beneath, ByDescriptor, ByPath } = require("../dist/beneath.js");
const { withoutSwapped } = require("../dist/files.js");

const UNIX = process.platform !== "win32";
const LINUX = process.platform === "linux";

/** A folder `store` with a subfolder, beside a folder with a secret. */
function world(t) {
  const root = folder(t);
  for (const name of ["store/sub/deep", "other/deep"]) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, "x.md"), name);
  }
  return { store: join(root, "store") + "/", swap: () => swap(root) };
}

function swap(root) {
  renameSync(join(root, "store/sub"), join(root, "store/moved"));
  symlinkSync(join(root, "other"), join(root, "store/sub"));
}

const loop = (error) => error.code === "loop";
const outside = (error) => error.code === "invalid-name";

for (const [way, skip] of [
  [ByDescriptor, !LINUX],
  [ByPath, !UNIX],
]) {
  test(`${way.name}: finds what is there and refuses links`, { skip }, (t) => {
    const { store, swap } = world(t);
    const before = new way(store);
    t.after(() => before.close());
    assert.equal(readFileSync(before.file(`${store}sub/deep/x.md`), "utf8"), "store/sub/deep");
    assert.deepEqual(readdirSync(before.folder(`${store}sub/deep`)), ["x.md"]);
    assert.deepEqual(readdirSync(before.folder(store)), ["sub"]);
    assert.throws(() => before.file(`${store}../other/deep/x.md`), outside);
    assert.throws(() => before.folder(`${store}..`), outside);
    assert.throws(() => before.folder(store.replace("store", "storehouse")), outside);
    swap();
    const after = new way(store);
    t.after(() => after.close());
    assert.throws(() => after.file(`${store}sub/deep/x.md`), loop);
    assert.throws(() => after.folder(`${store}sub/deep`), loop);
    assert.throws(() => after.folder(`${store}sub`), loop);
    assert.equal(readFileSync(after.file(`${store}moved/deep/x.md`), "utf8"), "store/sub/deep");
  });
}

test("a folder that is open already stays the same", { skip: !LINUX }, (t) => {
  const { store, swap } = world(t);
  const folders = beneath(store);
  t.after(() => folders.close());
  const file = folders.file(`${store}sub/deep/x.md`);
  swap();
  assert.equal(readFileSync(file, "utf8"), "store/sub/deep");
  assert.equal(readFileSync(folders.file(`${store}sub/deep/x.md`), "utf8"), "store/sub/deep");
  assert.equal(folders.again(), false);
});

test("where folders cannot be kept open, a swap is seen afterwards", { skip: !UNIX }, (t) => {
  const { store, swap } = world(t);
  const folders = new ByPath(store);
  const file = folders.file(`${store}sub/deep/x.md`);
  swap();
  assert.equal(readFileSync(file, "utf8"), "other/deep");
  assert.equal(folders.again(), true);
  assert.throws(() => folders.file(`${store}sub/deep/x.md`), loop);
});

test("of many files that were read, none is handed on that a swap let in", { skip: !UNIX }, (t) => {
  const { store, swap } = world(t);
  swap();
  const files = ["moved/deep/x.md", "sub/deep/x.md", "gone.md", "moved/deep/y.md"].map((name) => store + name);
  const lengths = Int32Array.of(2, 6, -1, 3);
  const failures = [{ code: "not-found", message: "x" }];
  const heads = withoutSwapped({ contents: Buffer.from("aaSECRETbbb"), lengths, failures }, files, new ByPath(store));
  assert.equal(heads.contents.toString(), "aabbb");
  assert.deepEqual(heads.lengths, Int32Array.of(2, -1, -1, 3));
  assert.deepEqual(heads.failures.map(({ code }) => code), ["loop", "not-found"]);
});

test("not one descriptor stays open, however many folders there are", { skip: !LINUX }, (t) => {
  const root = folder(t) + "/";
  const count = () => readdirSync("/proc/self/fd").length;
  const before = count();
  const folders = beneath(root);
  let most = 0;
  for (let index = 0; index < 200; index += 1) {
    mkdirSync(join(root, `${index}`));
    writeFileSync(join(root, `${index}`, "x.md"), `${index}`);
    assert.equal(readFileSync(folders.file(`${root}${index}/x.md`), "utf8"), `${index}`);
    most = Math.max(most, count());
  }
  folders.close();
  assert.equal(count(), before);
  assert.ok(most - before < 50, `${most - before} at a time`);
});
