// Team memory as an object of the store: which flow of the core each operation is. Syncing is the core's.

import * as check from "./check.js";
import { isMemdirError } from "./errors.js";
import type { Run } from "./host.js";
import type { Team } from "./types.js";

/** The operations, over `run`; `closing` is aborted when the store is being closed. */
export function team(run: Run, closing: AbortSignal): Team {
  return {
    pull: async (options) => run(check.signalOf(options), (store) => store.teamPull()),
    push: async (options) => run(check.signalOf(options), (store) => store.teamPush()),
    sync: async (options) => run(check.signalOf(options), (store) => store.teamSync()),
    status: async (options) => run(check.signalOf(options), (store) => store.teamStatus()),
    watch: async (options) => {
      const given = check.options(options, "options", ["periodMs", "signal"]);
      const periodMs = check.optionalDuration(given["periodMs"], "periodMs");
      const signal = check.optionalSignal(given["signal"]);
      await untilClosed(closing, signal, (either) => run(either, (store) => store.teamWatch(periodMs)));
    },
    conflicts: async (options) => run(check.signalOf(options), (store) => store.teamConflicts()),
    conflict: async (id, options) => {
      const name = check.text(id, "id");
      return run(check.signalOf(options), (store) => store.teamConflict(name));
    },
    restore: async (id, options) => {
      const name = check.text(id, "id");
      return run(check.signalOf(options), (store) => store.teamRestore(name));
    },
    drop: async (id, options) => {
      const name = check.text(id, "id");
      await run(check.signalOf(options), (store) => store.teamDrop(name));
    },
  };
}

/** Cancels `work` when either is aborted; that the store is closed is its usual end. */
async function untilClosed(
  closing: AbortSignal,
  signal: AbortSignal | undefined,
  work: (either: AbortSignal) => Promise<void>,
): Promise<void> {
  const either = new AbortController();
  const stop = () => either.abort(signal?.reason);
  if (signal?.aborted === true) {
    stop();
  }
  signal?.addEventListener("abort", stop, { once: true });
  closing.addEventListener("abort", stop, { once: true });
  try {
    await work(either.signal);
  } catch (error) {
    if (signal?.aborted === true || !(closing.aborted && isMemdirError(error) && error.code === "aborted")) {
      throw error;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    closing.removeEventListener("abort", stop);
  }
}
