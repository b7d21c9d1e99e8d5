// Compiled, never run: the handlers are what the SDK takes.

import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Memdir, type Message } from "memdir";

/** Messages and requests of the SDK are taken as they are. */
export async function turn(memory: Memdir, messages: Anthropic.MessageParam[]): Promise<string | null> {
  const request = { model: "claude-sonnet-4-5", max_tokens: 1000, messages } satisfies Anthropic.MessageCreateParams;
  const answer: Anthropic.Message = await new Anthropic().messages.create(request);
  const all: Message[] = [{ role: "user", content: "hello" }, answer];
  const { notice } = await memory.extract(all, { request: { ...request, messages: [...messages, answer] } });
  return notice;
}

export async function conversation(content: string): Promise<number> {
  await using memory = await Memdir.open();
  const last = await new Anthropic().beta.messages.toolRunner({
    model: "claude-sonnet-4-5",
    max_tokens: 1000,
    messages: [{ role: "user", content }],
    tools: [betaMemoryTool(memory.tool())],
  });
  return last.content.length;
}
