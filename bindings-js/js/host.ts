// The host: the loop that runs a flow of the core to its end, and which function performs which
// effect. It holds no policy: no retry, no limit, no path rule, no default about memory.
//
// The invariant: every effect of a step is answered before the next resume.

import { setMaxListeners } from "node:events";

import { call, end, type Core, type Store } from "./core.js";
import type { Effect, Effects, Outcome, Request, Response, Step } from "./effects.js";
import { MemdirError } from "./errors.js";
import { failure } from "./failure.js";
import * as files from "./files.js";
import { http } from "./http.js";
import * as names from "./names.js";
import { answer, type Answerable } from "./pack.js";
import { openEditor, run } from "./run.js";
import * as system from "./system.js";
import { print, readStdin } from "./terminal.js";
import { inTurns, nextTurn, SLICE_MS } from "./turns.js";
import { approve, emit, model, token, type UserFunctions } from "./user.js";
import { write } from "./write.js";

/** A running operation of the core. */
export interface Flow extends Answerable {
  resume(): unknown;
  cancel(): void;
  free(): void;
}

/** Runs a flow of a store to its end. */
export type Run = <T>(signal: AbortSignal | undefined, start: (store: Store) => Flow) => Promise<T>;

/** Runs a flow to its end. An abort of `signal` cancels it; it still runs to its end. */
export async function drive<T>(instance: Core, flow: Flow, user: UserFunctions, signal?: AbortSignal): Promise<T> {
  let stop = new AbortController();
  const cancel = () => {
    // What the flow asks for after this is its clean-up.
    const stopped = stop;
    stop = new AbortController();
    stopped.abort();
    try {
      call(instance, () => flow.cancel());
    } catch {
      // The core broke meanwhile: the next resume says so.
    }
  };
  try {
    if (signal?.aborted === true) {
      cancel();
    }
    manyMayWait(signal);
    signal?.addEventListener("abort", cancel, { once: true });
    for (;;) {
      const step = call(instance, () => flow.resume()) as Step<T>;
      if ("done" in step) {
        return step.done;
      }
      const responses = await performAll(step.effects, user, stop.signal);
      await handOver(instance, flow, responses);
    }
  } catch (error) {
    const cancelled = signal?.aborted === true && error instanceof MemdirError && error.code === "aborted";
    throw cancelled ? new MemdirError(error, { cause: signal.reason }) : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    end(instance, () => flow.free());
  }
}

/** Gives the core its answers, and everything else its turn. */
async function handOver(instance: Core, flow: Flow, responses: Response[]): Promise<void> {
  let end = performance.now() + SLICE_MS;
  for (const { id, outcome } of responses) {
    const pieces = answer(flow, id, outcome);
    while (call(instance, () => pieces.next()).done !== true) {
      if (performance.now() >= end) {
        await nextTurn();
        end = performance.now() + SLICE_MS;
      }
    }
    if (performance.now() >= end) {
      await nextTurn();
      end = performance.now() + SLICE_MS;
    }
  }
}

/** Many operations and effects may wait for one signal, which Node takes for a leak. */
function manyMayWait(signal: AbortSignal | undefined): void {
  if (signal instanceof EventTarget) {
    setMaxListeners(0, signal);
  }
}

/** Performs all effects of a step at once. */
async function performAll(requests: Request[], user: UserFunctions, stop: AbortSignal): Promise<Response[]> {
  manyMayWait(stop);
  const responses: Promise<Response>[] = [];
  for (const { id, effect } of requests) {
    const outcome = perform(effect, user, stop);
    if (effect.kind !== "emit") {
      responses.push(outcome.then((outcome) => ({ id, outcome })));
    }
  }
  return Promise.all(responses);
}

/** Performs one effect. Whatever goes wrong is its outcome. */
async function perform(effect: Effect, user: UserFunctions, stop: AbortSignal): Promise<Outcome> {
  try {
    const performer = PERFORMERS[effect.kind] as Performer<keyof Effects>;
    return await performer(effect, user, stop);
  } catch (error) {
    return { failed: failure(error) };
  }
}

type Performer<K extends keyof Effects> = (
  effect: Effects[K],
  user: UserFunctions,
  stop: AbortSignal,
) => Outcome | Promise<Outcome>;

const PERFORMERS: { [K in keyof Effects]: Performer<K> } = {
  list: (effect) => inTurns(files.list(effect)),
  read: (effect) => inTurns(files.read(effect)),
  "read-many": (effect) => inTurns(files.readMany(effect)),
  stat: (effect) => inTurns(files.stat(effect)),
  lstat: (effect) => inTurns(files.lstat(effect)),
  "read-link": (effect) => inTurns(files.readLink(effect)),
  "real-path": (effect) => inTurns(files.realPath(effect)),
  write: (effect) => inTurns(write(effect)),
  append: (effect) => inTurns(files.append(effect)),
  "make-dir": (effect) => inTurns(files.makeDir(effect)),
  remove: (effect) => inTurns(names.remove(effect)),
  rename: (effect) => inTurns(names.rename(effect)),
  link: (effect) => inTurns(names.link(effect)),
  "set-mtime": (effect) => inTurns(files.setMtime(effect)),
  "process-alive": system.processAlive,
  http: (effect, _, stop) => http(effect, stop),
  model,
  token,
  approve,
  run: (effect, _, stop) => run(effect, stop),
  now: system.now,
  sleep: (effect, _, stop) => system.sleep(effect, stop),
  random: system.random,
  watch: (effect, _, stop) => system.watch(effect, stop),
  print,
  "read-stdin": (effect, _, stop) => readStdin(effect, stop),
  "open-editor": openEditor,
  "host-info": system.hostInfo,
  emit,
};
