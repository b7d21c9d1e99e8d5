// What background runs propose as an object of the store: which flow of the core each operation is.

import * as check from "./check.js";
import type { Run } from "./host.js";
import type { InboxOperations } from "./types.js";

/** The operations, over `run`. */
export function inbox(run: Run): InboxOperations {
  return {
    list: async (options) => run(check.signalOf(options), (store) => store.inbox()),
    apply: async (id, options) => {
      const name = check.text(id, "id");
      const { paths, signal } = chosen(options);
      return run(signal, (store) => store.applyProposal(name, paths));
    },
    drop: async (id, options) => {
      const name = check.text(id, "id");
      const { paths, signal } = chosen(options);
      return run(signal, (store) => store.dropProposal(name, paths));
    },
  };
}

function chosen(options: unknown): { paths: string[] | undefined; signal: AbortSignal | undefined } {
  const given = check.options(options, "options", ["paths", "signal"]);
  const paths = given["paths"] ?? undefined;
  return {
    paths: paths === undefined ? undefined : check.texts(paths, "paths"),
    signal: check.optionalSignal(given["signal"]),
  };
}
