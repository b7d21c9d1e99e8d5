// The effects that call the user's own functions. What those throw stays here.

import type { Effects, Outcome } from "./effects.js";
import { Failed } from "./failure.js";
import type { MemdirEvent, ModelFunction, ModelRequest } from "./types.js";
import { within } from "./within.js";

/** The functions that a store was opened with. */
export interface UserFunctions {
  onEvent?: ((event: MemdirEvent) => void) | undefined;
  model?: ModelFunction | undefined;
}

export async function model(effect: Effects["model"], user: UserFunctions, stop: AbortSignal): Promise<Outcome> {
  const ask = user.model;
  if (ask === undefined) {
    throw new Failed("unsupported", "no model was given to this store; open it with one");
  }
  const request = JSON.parse(effect.request) as ModelRequest;
  const text = await within(stop, effect.timeoutMs, async (signal) => ask(request, { signal }));
  if (typeof text !== "string" || !text.isWellFormed()) {
    throw new Failed("other", "the model function must give well-formed text");
  }
  return { text };
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
