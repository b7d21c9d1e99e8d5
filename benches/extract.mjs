// What a call of `extract` costs at the end of a turn when nothing is to be done: a conversation of 1,000
// messages of 1 kB, 4 of them new, where it is not yet the turn of `extractEvery`.
import { Memdir } from "../bindings-js/dist/index.mjs";
import { measure } from "./measure.mjs";

const CALLS = 1_000;
const directory = process.argv[2];
const content = "what was said about it ".repeat(50).slice(0, 1_000);
const messages = Array.from({ length: 1_000 }, (_, at) => ({
  id: `message-${at}`,
  role: at % 2 === 0 ? "user" : "assistant",
  content: [{ type: "text", text: content }],
}));
const memory = await Memdir.open({ directory, features: { extract: true, extractEvery: 4_000_000_000 } });
const state = { cursor: "message-995", turns: 0 };
const empty = async () => {};

async function many(work) {
  for (let call = 0; call < CALLS; call += 1) await work();
}

const { reason } = await memory.extract(messages, { state });
if (reason !== "throttled") throw new Error(`it was to be throttled: ${reason}`);
const rows = await measure(
  [
    ["an empty call", () => many(empty)],
    ["memdir in Node", () => many(() => memory.extract(messages))],
  ],
  10,
);
console.log(JSON.stringify(rows));
