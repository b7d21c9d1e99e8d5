// Shares the event loop: file effects are done synchronously, which is several times as fast as
// Node's thread pool, but never for longer than a slice at a time.

/** How long one turn of the event loop may be held. */
export const SLICE_MS = 4;

/** File work that yields wherever it can be interrupted. */
export type Task<T> = Generator<void, T>;

/** The same, and where it waits it yields what it waits for, which must not reject; see `settled`. */
export type WaitingTask<T> = Generator<void | Promise<void>, T>;

interface Waiting {
  task: WaitingTask<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const queue: Waiting[] = [];

/** Does a task in slices, after those that came before it. One that waits holds up no other. */
export function inTurns<T>(task: WaitingTask<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    join({ task, resolve: resolve as (value: unknown) => void, reject });
  });
}

/** Waits for a promise within a task; throws what it rejects with. */
export function* settled(promise: Promise<void>): WaitingTask<void> {
  const failures: unknown[] = [];
  yield promise.catch((error: unknown) => {
    failures.push(error);
  });
  if (failures.length > 0) {
    throw failures[0];
  }
}

/** Lets everything else have its turn first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function join(waiting: Waiting): void {
  queue.push(waiting);
  if (queue.length === 1) {
    setImmediate(turn);
  }
}

function turn(): void {
  const end = performance.now() + SLICE_MS;
  let done = 0;
  for (const waiting of queue) {
    if (!advance(waiting, end)) {
      break;
    }
    done += 1;
    if (performance.now() >= end) {
      break;
    }
  }
  queue.splice(0, done);
  if (queue.length > 0) {
    setImmediate(turn);
  }
}

/** Whether the task came to its end, or to where it waits, before the slice did. */
function advance(waiting: Waiting, end: number): boolean {
  const { task, resolve, reject } = waiting;
  try {
    for (;;) {
      const next = task.next();
      if (next.done === true) {
        resolve(next.value);
        return true;
      }
      if (next.value instanceof Promise) {
        void next.value.then(() => join(waiting));
        return true;
      }
      if (performance.now() >= end) {
        return false;
      }
    }
  } catch (error) {
    reject(error);
    return true;
  }
}
