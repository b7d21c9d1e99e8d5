// Servers for tests, closed at the end of the test that asked for them; and the two wire formats that
// models speak.

import { createServer } from "node:http";

/** A server on this machine; gives its address. */
export async function serve(t, handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** All of a request's body. */
export async function bodyOf(request) {
  const parts = [];
  for await (const part of request) {
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** What the providers have in common and where they differ, by their documentation. */
export const PROVIDERS = {
  anthropic: {
    name: "anthropic/some-model",
    base: "",
    path: "/v1/messages",
    variables: { key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL" },
    keyOf: (headers) => headers["x-api-key"],
    schemaOf: (body) => body.output_config?.format?.schema,
    systemOf: (body) => body.system,
    userOf: (body) => body.messages,
    answer: (text) => ({
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [
        { type: "thinking", thinking: "which one", signature: "x" },
        { type: "text", text },
      ],
      stop_reason: "end_turn",
    }),
    error: (message) => ({ type: "error", error: { type: "some_error", message } }),
  },
  openai: {
    name: "openai/some-model",
    base: "/v1",
    path: "/v1/chat/completions",
    variables: { key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL" },
    keyOf: (headers) => headers["authorization"]?.replace(/^Bearer /, ""),
    schemaOf: (body) => body.response_format?.json_schema?.schema,
    systemOf: (body) => body.messages.find(({ role }) => role === "system").content,
    userOf: (body) => body.messages.filter(({ role }) => role !== "system"),
    answer: (text) => ({
      id: "c1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    }),
    error: (message) => ({ error: { type: "some_error", message } }),
  },
};
