// A small agent whose memory writes itself: it reads its memory before it answers, and after each answer a model
// writes down what later conversations should know, keeps notes of this one, and now and then puts the memory in
// order. Each line of standard input is a turn.
//
//   node agent.mjs [FOLDER]        the memory is in FOLDER; without one, in the project's usual place
//
// With ANTHROPIC_API_KEY it talks to Anthropic; without, to a server in this folder that plays it.
import { randomUUID } from "node:crypto";
import { argv, env, stderr, stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";

import Anthropic from "@anthropic-ai/sdk";
import { Memdir } from "memdir";

import { playAnthropic } from "./scripted.mjs";

const MODEL = env.AGENT_MODEL ?? "claude-haiku-4-5";
const scripted = env.ANTHROPIC_API_KEY ? null : await playAnthropic();
const key = scripted ? { apiKey: "none", baseURL: scripted.url } : {};

const client = new Anthropic(key);
const memory = await Memdir.open({
  directory: argv[2],
  model: { name: `anthropic/${MODEL}`, apiKey: key.apiKey, baseUrl: key.baseURL },
  features: { extract: true, dream: true },
  onEvent: ({ message }) => stderr.write(`(${message})\n`),
});

const session = randomUUID(); // which conversation this is
const messages = []; // all that was said; each message has an id that stays
let shown = null; // which memories this conversation has seen

/** What the model is told before a turn. */
async function remember(question) {
  const recall = await memory.recall(question, { strategy: "lexical", state: shown });
  shown = recall.state;
  const content = recall.render();
  // isMeta: what comes from memory is not written into it once more.
  if (content) messages.push({ id: randomUUID(), role: "user", content, isMeta: true });
}

async function answer(question) {
  await remember(question);
  messages.push({ id: randomUUID(), role: "user", content: question });
  const reply = await client.messages.create({
    model: MODEL,
    max_tokens: 1024,
    system: (await memory.prompt()) ?? "",
    messages: messages.map(({ role, content }) => ({ role, content })),
  });
  messages.push({ id: reply.id, role: "assistant", content: reply.content });
  return reply.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

const lines = createInterface({ input: stdin });
if (stdin.isTTY) stderr.write("Say something; an empty line ends it.\n");
for await (const line of lines) {
  if (!line.trim()) break;
  stdout.write(`${await answer(line)}\n`);
  // In the background: the next turn need not wait for it.
  memory.afterTurn(messages, { session }).catch((error) => stderr.write(`(${error.message})\n`));
}
lines.close();
await memory.close(); // waits for what is still being written
scripted?.close();
