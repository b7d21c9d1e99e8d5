// Extraction as an operation of the store: how it is asked for, and the loop in which the caller's own
// agent makes its runs. Whether something is to be done, and what a run may do, the core decides.

import * as check from "./check.js";
import type { Store } from "./core.js";
import { aborted } from "./errors.js";
import { failure } from "./failure.js";
import type { Flow, Run } from "./host.js";
import type { Extraction, ExtractionRunner, ExtractionTask, RunReport, ToolReply } from "./types.js";

/** What is to be run next, or what came of it. */
type Step = { task: ExtractionTask; result: null } | { task: null; result: Extraction };

/** What {@link Memdir.extract} takes. */
export const EXTRACT_OPTIONS = [
  "agent",
  "interactive",
  "remote",
  "session",
  "state",
  "request",
  "readRoots",
  "review",
  "run",
  "signal",
];

/** What the core is told; what is not given stays as the core has it. */
export function asked(given: Record<string, unknown>): Record<string, unknown> {
  const { state, readRoots } = given;
  return check.named({
    agent: check.optionalChoice(given["agent"], "agent", ["main", "sub"]),
    interactive: check.optionalFlag(given["interactive"], "interactive"),
    remote: check.optionalFlag(given["remote"], "remote"),
    session: check.optionalText(given["session"], "session"),
    state: state === undefined || state === null ? undefined : check.extractionState(state, "state"),
    readRoots: readRoots === undefined ? undefined : check.texts(readRoots, "readRoots"),
    review: check.optionalFlag(given["review"], "review"),
  });
}

/** What {@link Memdir.afterTurn} takes. */
export const AFTER_TURN_OPTIONS = [
  "agent",
  "interactive",
  "remote",
  "session",
  "request",
  "readRoots",
  "review",
  "naturalBreak",
  "extraction",
  "notes",
  "signal",
];

/** What the core is told after a turn; what is not given stays as the core has it. */
export function askedAfterTurn(given: Record<string, unknown>): Record<string, unknown> {
  const { extraction } = given;
  return check.named({
    ...asked(given),
    naturalBreak: check.optionalFlag(given["naturalBreak"], "naturalBreak"),
    extraction:
      extraction === undefined || extraction === null ? undefined : check.extractionState(extraction, "extraction"),
    notes: check.optionalNotesState(given["notes"], "notes"),
  });
}

/** Makes the runs of an extraction with `runner`. How each ended is told to the core in any case. */
export async function extractWith(
  runner: ExtractionRunner,
  run: Run,
  begin: (store: Store) => Flow,
  signal: AbortSignal | undefined,
): Promise<Extraction> {
  let step = stepOf(await run(signal, begin));
  while (step.task !== null) {
    const { task } = step;
    const call = async (name: string, input: unknown): Promise<ToolReply> => {
      const tool = check.text(name, "name");
      const json = check.jsonText(input, "input");
      return run(signal, (store) => store.callTool(task.run, tool, json));
    };
    const report = await reportOf(() => runner({ ...task, call, signal }), signal);
    step = stepOf(await run(undefined, (store) => store.endExtraction(task.run, report)));
  }
  if (signal?.aborted === true) {
    throw aborted(signal.reason);
  }
  return step.result;
}

function stepOf(text: unknown): Step {
  return JSON.parse(text as string) as Step;
}

/** What came of a run, whatever the function did. */
async function reportOf(work: () => ReturnType<ExtractionRunner>, signal: AbortSignal | undefined): Promise<RunReport> {
  try {
    return check.runReport(await unlessAborted(work, signal), "what run gave");
  } catch (error) {
    return { error: failure(error).message || "it failed without a message" };
  }
}

/** Waits for `work`, but not when `signal` is aborted, as it may not listen. */
function unlessAborted<T>(work: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal?.reason));
    if (signal?.aborted === true) {
      stop();
      return;
    }
    signal?.addEventListener("abort", stop, { once: true });
    void start()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener("abort", stop));

    async function start(): Promise<T> {
      return work();
    }
  });
}
