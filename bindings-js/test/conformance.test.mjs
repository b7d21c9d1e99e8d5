// tests/conformance/*.json against the host of this package.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { expand, fits, possible, setUp } from "./support/conformance.mjs";
import { perform } from "./support/flows.mjs";
import { folder } from "./support/folders.mjs";

const FOLDER = new URL("../../tests/conformance/", import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
let steps = 0;

for (const file of files) {
  test(`conformance: ${file}`, async (t) => {
    const scenario = expand(JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")), folder(t));
    (scenario.setup ?? []).filter(possible).forEach(setUp);
    for (const { name, setup = [], effects, outcomes } of scenario.steps.filter(possible)) {
      setup.filter(possible).forEach(setUp);
      const actual = await perform(effects.map(asFromCore));
      assert.equal(actual.length, outcomes.length, name);
      outcomes.forEach((expected, index) => {
        assert.ok(
          fits(expected, actual[index]),
          `${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual[index])}`,
        );
      });
      steps += 1;
    }
  });
}

test("conformance: steps were run", () => {
  assert.ok(files.length >= 8, `only ${files.length} files`);
  assert.ok(steps >= 40, `only ${steps} steps`);
});

/** Bytes cross from the core as bytes, and what is not there as null. */
function asFromCore(effect) {
  const whole = { within: null, ...effect };
  return Array.isArray(effect.content?.bytes)
    ? { ...whole, content: { bytes: Uint8Array.from(effect.content.bytes) } }
    : whole;
}
