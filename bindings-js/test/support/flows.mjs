// Flows for tests of the host: one that asks for given effects, as the flow `probe` of the core
// does (the npm module leaves that one out, it would be a fifth of its size).

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { drive } = require("../../dist/host.js");
const { core } = require("../../dist/core.js");

/** Performs effects side by side through the loop of the host; gives their outcomes. */
export async function perform(effects, { user = {}, signal } = {}) {
  const outcomes = effects.map(() => "done");
  let asked = false;
  const flow = {
    cancelled: false,
    answer(id, outcome) {
      outcomes[id] = outcome;
    },
    answerListing(id, names, numbers, incomplete) {
      const rows = Array.from({ length: numbers.length / 8 }, (_, row) => [...numbers.subarray(row * 8, row * 8 + 8)]);
      const all = names.split("\0");
      const before = outcomes[id].listing?.entries ?? [];
      outcomes[id] = { listing: { entries: [...before, ...rows.map((row, index) => entry(all[index], row))], incomplete } };
    },
    answerHeads(id, contents, lengths, failures) {
      let start = 0;
      const left = [...failures];
      const heads = Array.from(lengths, (length) =>
        length < 0 ? { failed: left.shift() } : { content: contents.subarray(start, (start += length)) },
      );
      outcomes[id] = { heads };
    },
    resume() {
      if (asked) {
        return { done: outcomes };
      }
      asked = true;
      return { effects: effects.map((effect, id) => ({ id, effect })) };
    },
    cancel() {
      this.cancelled = true;
    },
    free() {},
  };
  const result = await drive(core(), flow, user, signal);
  return Object.assign(result, { cancelled: flow.cancelled });
}

/**
 * Runs an operation of the core through the loop of the host. `see` hears of every effect before it is performed, and
 * may change it.
 */
export function watched(flow, see, user = {}) {
  const own = {
    resume() {
      const step = flow.resume();
      step.effects?.forEach(({ effect }) => see(effect));
      return step;
    },
  };
  const probe = new Proxy(flow, { get: (_, name) => own[name] ?? flow[name].bind(flow) });
  return drive(core(), probe, user);
}

/** One entry of a listing as it is packed for the core. */
function entry(name, [kind, invalidName, size, mtimeMs, mtimeNs, ctimeMs, inode, mode]) {
  const optional = (number) => (Number.isNaN(number) ? null : number);
  const stat = {
    kind: ["file", "directory", "link", "other"][kind],
    size,
    mtimeMs,
    mtimeNs,
    ctimeMs: optional(ctimeMs),
    inode: optional(inode),
    mode: optional(mode),
  };
  return { name, invalidName: invalidName === 1, stat: kind < 0 ? null : stat };
}
