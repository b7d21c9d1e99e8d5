// Runs tests/vectors/*.json against the rules of one package; tests/vectors/schema.json tells the
// format.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const FOLDER = new URL("../../../tests/vectors/", import.meta.url);
const KEYS = ["name", "input", "ok", "err", "partial"];

/**
 * `rules` maps the name of a rule to a function of the case's input, `errorCode` gives the code of
 * what such a function threw.
 */
export function runVectors(rules, errorCode) {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && name !== "schema.json");
  const unused = new Set(Object.keys(rules));
  let count = 0;
  for (const file of files) {
    const { rule, doc, cases, ...rest } = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
    unused.delete(rule);
    count += cases?.length ?? 0;
    test(`vectors: ${rule}`, () => {
      assert.deepEqual(Object.keys(rest), [], "unknown keys");
      assert.equal(file, `${rule}.json`);
      assert.equal(typeof doc, "string");
      assert.ok(rule in rules, `no such rule: ${rule}`);
      assert.ok(cases.length > 0, "no case");
      for (const one of cases) {
        runCase(rules[rule], one, errorCode);
      }
    });
  }
  test("vectors: every rule has some", () => {
    assert.deepEqual([...unused], []);
    assert.ok(count >= 200, `only ${count} cases`);
    console.log(`${count} vectors of ${files.length} rules`);
  });
}

function runCase(rule, { name, input, ok, err, partial = false, ...rest }, errorCode) {
  assert.deepEqual(Object.keys(rest), [], `${name}: unknown keys beside ${KEYS}`);
  let actual;
  try {
    actual = rule(expand(input));
  } catch (error) {
    assert.equal(errorCode(error), err, `${name}: ${error}`);
    return;
  }
  assert.equal(err, undefined, `${name}: should fail`);
  compare(actual, expand(ok), partial, name);
}

function compare(actual, expected, partial, at) {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), at);
    assert.equal(actual.length, expected.length, `${at}: length`);
    expected.forEach((item, index) => compare(actual[index], item, partial, `${at}[${index}]`));
  } else if (typeof expected === "object" && expected !== null) {
    assert.equal(typeof actual, "object", at);
    const keys = partial ? Object.keys(expected) : [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    for (const key of keys) {
      assert.ok(Object.hasOwn(expected, key), `${at}: unexpected ${key}`);
      assert.ok(Object.hasOwn(actual, key), `${at}: no ${key}`);
      compare(actual[key], expected[key], partial, `${at}.${key}`);
    }
  } else {
    assert.equal(actual, expected, at);
  }
}

/** Writes out the strings that are given as `{ "repeat": [[text, count], …] }`. */
function expand(value) {
  if (Array.isArray(value)) {
    return value.map(expand);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === "repeat" && Array.isArray(value.repeat)) {
    return value.repeat.map(([text, count]) => text.repeat(count)).join("");
  }
  return Object.fromEntries(keys.map((key) => [key, expand(value[key])]));
}
