// The notes of a session as an object of the store: which flow of the core each operation is.

import * as check from "./check.js";
import type { Run } from "./host.js";
import type { NotesResult, SessionNotes } from "./types.js";

/** The operations for the session `id`, over `run`; `update` runs what closing does not wait for by itself. */
export function session(id: string, run: Run, update: Run): SessionNotes {
  return {
    update: async (messages, options) => {
      const conversation = check.items(messages, "messages");
      const given = check.options(options, "options", ["force", "naturalBreak", "request", "state", "signal"]);
      const signal = check.optionalSignal(given["signal"]);
      const wanted = check.named({
        force: check.optionalFlag(given["force"], "force"),
        naturalBreak: check.optionalFlag(given["naturalBreak"], "naturalBreak"),
        state: check.optionalNotesState(given["state"], "state"),
      });
      // It is large, and not looked at where nothing is to be done.
      const { request } = given;
      const result = await update<string>(signal, (store) => store.sessionUpdate(id, conversation, request, wanted));
      return JSON.parse(result) as NotesResult;
    },
    notes: async (options) => run(check.signalOf(options), (store) => store.sessionNotes(id)),
    forCompaction: async (messages, options) => {
      const conversation = check.items(messages, "messages");
      const given = check.options(options, "options", ["boundary", "state", "signal"]);
      const signal = check.optionalSignal(given["signal"]);
      const wanted = check.named({
        boundary: check.optionalCount(given["boundary"], "boundary"),
        state: check.optionalNotesState(given["state"], "state"),
      });
      return run(signal, (store) => store.sessionCompaction(id, conversation, wanted));
    },
    path: async (options) => run(check.signalOf(options), (store) => store.sessionPath(id)),
  };
}
