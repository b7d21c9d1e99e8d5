// Loads the core, a WebAssembly module, and decides what becomes of what it throws. A core that
// trapped is not used again: everything that belongs to it fails, and the next use loads another.

import type * as Glue from "../wasm/memdir.js";
import { internal, MemdirError, type ErrorDetail } from "./errors.js";

/** One instance of the core. */
export type Core = typeof Glue;

/** One open store of an instance. */
export type Store = InstanceType<Core["Store"]>;

const PATH = "../wasm/memdir.js";
const broken = new WeakSet<Core>();
let current: Core | undefined;

/** The core to start new things with. Loading it is synchronous and takes a few milliseconds. */
export function core(): Core {
  current ??= require(PATH) as Core;
  return current;
}

/** Calls into an instance. Whatever it throws becomes a {@link MemdirError}. */
export function call<T>(instance: Core, work: () => T): T {
  if (broken.has(instance)) {
    throw internal(undefined);
  }
  try {
    return work();
  } catch (thrown) {
    if (isDetail(thrown)) {
      throw new MemdirError(thrown);
    }
    if (thrown instanceof MemdirError) {
      throw thrown;
    }
    // A trap, or a stack that ended inside of it.
    abandon(instance);
    throw internal(thrown);
  }
}

/** Ends something that an instance holds; with an instance that broke, it ended already. */
export function end(instance: Core, work: () => void): void {
  if (!broken.has(instance)) {
    call(instance, work);
  }
}

function abandon(instance: Core): void {
  broken.add(instance);
  if (current === instance) {
    current = undefined;
    delete require.cache[require.resolve(PATH)];
  }
}

function isDetail(thrown: unknown): thrown is ErrorDetail {
  return typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown;
}
