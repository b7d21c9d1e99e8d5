// Models that are functions, for tests of what runs in the background.

import { setTimeout } from "node:timers/promises";

import { Memdir } from "memdir";

/** A call of a tool in an answer. */
export const call = (name, input, id = `${name}-1`) => ({ type: "tool_use", id, name, input });

/** An answer of these blocks. */
export const turn = (...content) => JSON.stringify({ role: "assistant", content });

/** A promise and what settles it. */
export function gate() {
  let open;
  const promise = new Promise((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** Waits until something is so. */
export async function until(isSo) {
  while (!isSo()) {
    await setTimeout(5);
  }
}

/** A conversation of one turn, or more of them. */
export function talk(turns = 1) {
  return Array.from({ length: turns }, (_, turn) => [
    { id: `u${turn}`, role: "user", content: `please always write small commits, number ${turn}` },
    { id: `a${turn}`, role: "assistant", content: [{ type: "text", text: "I will." }] },
  ]).flat();
}

/**
 * A store whose model is a function that gives these answers, one after the other, of a list or of one list for
 * each purpose; what it was asked, and the events.
 */
export async function opened(answers, options) {
  const asked = [];
  const events = [];
  const model = async (request, { signal }) => {
    asked.push(request);
    const mine = Array.isArray(answers) ? answers : (answers[request.purpose] ?? []);
    const answer = mine.shift() ?? "Nothing more.";
    return typeof answer === "function" ? answer(signal) : answer;
  };
  const memdir = await Memdir.open({ env: {}, model, onEvent: (event) => events.push(event), ...options });
  return { memdir, asked, events };
}
