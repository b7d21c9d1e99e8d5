// The effects that call the user's own functions. What those throw stays here.

import type { Effects, Outcome } from "./effects.js";
import { Failed } from "./failure.js";
import type {
  ApproveImportFunction,
  MemdirEvent,
  ModelFunction,
  ModelRequest,
  ModelToolRequest,
  TokenFunction,
} from "./types.js";
import { within } from "./within.js";

/** The functions that a store was opened with. */
export interface UserFunctions {
  onEvent?: ((event: MemdirEvent) => void) | undefined;
  model?: ModelFunction | undefined;
  token?: TokenFunction | undefined;
  approveImport?: ApproveImportFunction | undefined;
}

export async function model(effect: Effects["model"], user: UserFunctions, stop: AbortSignal): Promise<Outcome> {
  const ask = user.model;
  if (ask === undefined) {
    throw new Failed("unsupported", "no model was given to this store; open it with one");
  }
  const request = JSON.parse(effect.request) as ModelRequest | ModelToolRequest;
  const text = await within(stop, effect.timeoutMs, async (signal) => ask(request, { signal }));
  return { text: wellFormed(text, "model") };
}

export async function token(effect: Effects["token"], user: UserFunctions, stop: AbortSignal): Promise<Outcome> {
  const ask = user.token;
  if (ask === undefined) {
    throw new Failed("unsupported", "no function that gives a token was given to this store; open it with one");
  }
  const text = await within(stop, effect.timeoutMs, async (signal) => ask({ signal }));
  return { text: wellFormed(text, "token") };
}

export async function approve(effect: Effects["approve"], user: UserFunctions, stop: AbortSignal): Promise<Outcome> {
  const ask = user.approveImport;
  if (ask === undefined) {
    throw new Failed("unsupported", "no function that approves imports was given to this store; open it with one");
  }
  const approved: unknown = await within(stop, effect.timeoutMs, async () => ask(effect.path, effect.parent));
  if (typeof approved !== "boolean") {
    throw new Failed("other", "the function that approves imports must give true or false");
  }
  return { approved };
}

/** What a function of the user's gave, if it is a text. */
function wellFormed(text: unknown, whose: string): string {
  if (typeof text !== "string" || !text.isWellFormed()) {
    throw new Failed("other", `the ${whose} function must give well-formed text`);
  }
  return text;
}

/** Never fails: the flow goes on whatever the listener does. */
export function emit({ event }: Effects["emit"], { onEvent }: UserFunctions): Outcome {
  try {
    const result: unknown = onEvent?.(event);
    // Of whatever realm or library the promise is.
    Promise.resolve(result).catch(warn);
  } catch (error) {
    warn(error);
  }
  return "done";
}

function warn(error: unknown): void {
  let message = "";
  try {
    message = `: ${String(error instanceof Error ? error.message : error)}`;
  } catch {
    // Something that has no text.
  }
  process.emitWarning(`the event listener failed${message}`, "MemdirWarning");
}
