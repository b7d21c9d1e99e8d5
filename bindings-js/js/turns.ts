// Shares the event loop: file effects are done synchronously, which is several times as fast as
// Node's thread pool, but never for longer than a slice at a time.

/** How long one turn of the event loop may be held. */
export const SLICE_MS = 4;

/** File work that yields wherever it can be interrupted. */
export type Task<T> = Generator<void, T>;

interface Waiting {
  task: Task<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const queue: Waiting[] = [];

/** Does a task in slices, after those that came before it. */
export function inTurns<T>(task: Task<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    queue.push({ task, resolve: resolve as (value: unknown) => void, reject });
    if (queue.length === 1) {
      setImmediate(turn);
    }
  });
}

/** Lets everything else have its turn first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
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

/** Whether the task came to its end before the slice did. */
function advance({ task, resolve, reject }: Waiting, end: number): boolean {
  try {
    for (;;) {
      const next = task.next();
      if (next.done === true) {
        resolve(next.value);
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
