// How an effect that waits is limited: by its own time, and by the cancellation of its flow.

import { Failed } from "./failure.js";

/** The longest time that a timer of Node takes, 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits for `work`. When `timeoutMs` is over it fails with `timeout`, when `stop` is aborted with
 * `aborted`; in both cases the signal that `work` was given is aborted, and it is not waited for.
 */
export function within<T>(stop: AbortSignal, timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    const give = (why: Failed) => {
      controller.abort(why);
      reject(why);
    };
    const onStop = () => give(new Failed("aborted", "the operation was cancelled"));
    if (stop.aborted) {
      onStop();
      return;
    }
    stop.addEventListener("abort", onStop, { once: true });
    const timer = setTimeout(
      () => give(new Failed("timeout", `no answer within ${timeoutMs} ms`)),
      Math.min(timeoutMs, LONGEST_MS),
    );
    controller.signal.addEventListener("abort", settle, { once: true });
    run().then(resolve, reject).finally(settle);

    async function run(): Promise<T> {
      return work(controller.signal);
    }

    function settle(): void {
      clearTimeout(timer);
      stop.removeEventListener("abort", onStop);
    }
  });
}
