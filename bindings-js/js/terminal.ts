// The effects about the terminal, or whatever stands at the ends of the standard streams.

import { on } from "node:events";

import type { Effects, Outcome } from "./effects.js";
import { Failed } from "./failure.js";
import { within } from "./within.js";

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

export function readStdin({ maxBytes, line }: Effects["read-stdin"], stop: AbortSignal): Promise<Outcome> {
  // Whoever is asked for a line may take their time, or give up with Ctrl-C.
  return line ? within(stop, Infinity, (signal) => readLine(maxBytes, signal)) : readAll(maxBytes);
}

async function readAll(maxBytes: number): Promise<Outcome> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBytes) {
      throw tooLarge(maxBytes);
    }
    parts.push(part);
  }
  return { content: Buffer.concat(parts) };
}

/**
 * The next line without its end. The stream is left at rest and open: the program that is started next may read from
 * the same terminal, and a stream that reads would keep this one from ending.
 */
async function readLine(maxBytes: number, signal: AbortSignal): Promise<Outcome> {
  const { stdin } = process;
  let read: Buffer = Buffer.alloc(0);
  let end = -1;
  try {
    for await (const part of parts(signal)) {
      read = Buffer.concat([read, part]);
      end = read.indexOf("\n");
      if (end >= 0 || read.length > maxBytes + 1) {
        break;
      }
    }
    if (end >= 0) {
      stdin.unshift(read.subarray(end + 1));
    }
  } finally {
    // Last, since what is put back makes the stream read on.
    stdin.pause();
  }
  const line = end < 0 ? read : read.subarray(0, end);
  const content = line.at(-1) === RETURN ? line.subarray(0, -1) : line;
  if (content.length > maxBytes) {
    throw tooLarge(maxBytes);
  }
  return { content };
}

/** The standard input as it comes; unlike the iterator of a stream this one does not close it. */
async function* parts(signal: AbortSignal): AsyncGenerator<Buffer> {
  const { stdin } = process;
  if (stdin.readableEnded) {
    return;
  }
  const events = on(stdin, "data", { signal, close: ["end"] });
  stdin.resume();
  for await (const [part] of events) {
    yield part as Buffer;
  }
}

const RETURN = 0x0d;

function tooLarge(maxBytes: number): Failed {
  return new Failed("too-large", `the input is larger than ${maxBytes} bytes`);
}
