// Plays Anthropic's Messages API for the example, so that it runs without a key: it answers a conversation with
// one line, and an extraction with the memory that a model would write.
import { createServer } from "node:http";

const MEMORY = `---
name: Small commits
description: the user wants small commits, each with its tests
type: feedback
---
Keep commits small, each with its tests.

**Why:** large ones were hard to review.
**How to apply:** split the work before it is committed.
`;

/** Starts the server; ends with the process, or with `close()`. */
export async function playAnthropic() {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const content = reply(JSON.parse(body));
      const calls = content.some(({ type }) => type === "tool_use");
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({
        id: `msg_${Date.now()}_${Math.random().toString(36).slice(2)}`,
        type: "message",
        role: "assistant",
        model: "scripted",
        content,
        stop_reason: calls ? "tool_use" : "end_turn",
        usage: { input_tokens: 100, output_tokens: 20 },
      }));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function reply({ tools, messages }) {
  const said = JSON.stringify(messages);
  const text = (text) => [{ type: "text", text }];
  if (!tools) return text(said.includes("Small commits") ? "Small ones, as you like them." : "I will.");
  const folder = /the folder `([^`]+)`/.exec(messages[0].content[0].text)?.[1] ?? "";
  const call = (name, input) => ({ type: "tool_use", id: `${name}_${messages.length}`, name, input });
  const path = `${folder}feedback_small_commits.md`;
  const line = "- [Small commits](feedback_small_commits.md) — each with its tests\n";
  // Turn by turn: look, write, done.
  if (!said.includes("small commits, please") || said.includes("[feedback]")) return text("Nothing to keep.");
  if (messages.length === 1) return [call("Read", { file_path: `${folder}MEMORY.md` })];
  if (messages.length > 3) return text("Kept.");
  return [
    call("Write", { file_path: path, content: MEMORY }),
    call("Write", { file_path: `${folder}MEMORY.md`, content: line }),
  ];
}
