// The effects about the terminal, or whatever stands at the ends of the standard streams.

import type { Effects, Outcome } from "./effects.js";
import { Failed } from "./failure.js";

const guarded = new WeakSet<NodeJS.WriteStream>();

/** Waits until the text is out. A reader that has gone away is a failure like any other. */
export function print({ stream, text }: Effects["print"]): Promise<Outcome> {
  const target = process[stream];
  if (!guarded.has(target)) {
    guarded.add(target);
    // Each write hears of its own failure; without a listener Node would end the program.
    target.on("error", () => {});
  }
  return new Promise((resolve, reject) => {
    target.write(text, (error) => (error ? reject(error) : resolve("done")));
  });
}

export async function readStdin({ maxBytes }: Effects["read-stdin"]): Promise<Outcome> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBytes) {
      throw new Failed("too-large", `the input is larger than ${maxBytes} bytes`);
    }
    parts.push(part);
  }
  return { content: Buffer.concat(parts) };
}
