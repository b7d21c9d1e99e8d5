// How instructions are asked for. Which files those are, the core decides.

import * as check from "./check.js";

const OPTIONS = [
  "agentsMd",
  "user",
  "project",
  "local",
  "additionalDirectories",
  "excludes",
  "approved",
  "loaded",
  "signal",
];

/** What stops the loading of a chain, and what the core is told; what is not given stays as the core has it. */
export function chain(options: unknown): { signal: AbortSignal | undefined; wanted: Record<string, unknown> } {
  const given = check.options(options, "options", OPTIONS);
  const flag = (name: string) => check.optionalFlag(given[name], name);
  const texts = (name: string) => (given[name] === undefined ? undefined : check.texts(given[name], name));
  const wanted = check.named({
    agentsMd: flag("agentsMd"),
    user: flag("user"),
    project: flag("project"),
    local: flag("local"),
    additionalDirectories: texts("additionalDirectories"),
    excludes: texts("excludes"),
    approved: texts("approved"),
    loaded: texts("loaded"),
  });
  return { signal: check.optionalSignal(given["signal"]), wanted };
}
