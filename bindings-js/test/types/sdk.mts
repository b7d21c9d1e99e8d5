// Compiled, never run: the handlers are what the SDK takes.

import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Memdir } from "memdir";

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
