/// <reference lib="esnext.disposable" preserve="true" />
// The public class: one open store. Every operation is one flow of the core.

import * as check from "./check.js";
import { call, core, free, type Core } from "./core.js";
import { invalidArgument } from "./errors.js";
import { drive, type Flow } from "./host.js";
import type { CallOptions, MemoryFile, Opened, OpenOptions, PromptOptions, Scan } from "./types.js";
import type { UserFunctions } from "./user.js";

type Store = InstanceType<Core["Store"]>;

/**
 * A folder of memories.
 *
 * All operations are asynchronous, many may run at once, and none holds the event loop for long.
 * They reject with a {@link MemdirError}. A memory that is broken is never an error: the report of a
 * scan says what is wrong with it.
 */
export class Memdir implements AsyncDisposable {
  /** The memory folder: absolute, normalised, with one trailing separator. */
  readonly directory: string;
  /** Whether memory is on. When it is off, nothing is read, written or created. */
  readonly enabled: boolean;

  readonly #core: Core;
  readonly #store: Store;
  readonly #user: UserFunctions;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  private constructor(instance: Core, store: Store, user: UserFunctions, opened: Opened) {
    this.#core = instance;
    this.#store = store;
    this.#user = user;
    this.directory = opened.directory;
    this.enabled = opened.enabled;
  }

  /**
   * Opens the memory folder `directory`, which need not exist yet; opening creates nothing.
   *
   * Rejects with `invalid-argument` and `invalid-text`, and with the `path-…` codes for a directory
   * that is not accepted (facts 1.5).
   */
  static async open(options: OpenOptions): Promise<Memdir> {
    const given = check.options(options, "options", ["directory", "onEvent", "model", "signal"]);
    const directory = check.text(given["directory"], "directory");
    const user: UserFunctions = {
      onEvent: check.optionalFunction(given["onEvent"], "onEvent"),
      model: check.optionalFunction(given["model"], "model"),
    };
    const signal = check.optionalSignal(given["signal"]);
    const instance = core();
    const store = call(instance, () => new instance.Store({ directory }));
    try {
      const opened = await drive<Opened>(instance, call(instance, () => store.open()), user, signal);
      return new Memdir(instance, store, user, opened);
    } catch (error) {
      free(instance, store);
      throw error;
    }
  }

  /**
   * Lists the memories, newest first and at most 200, and reports every file that could not be one
   * (facts 4.4). Never writes. A folder that does not exist has no memories.
   */
  async scan(options?: CallOptions): Promise<Scan> {
    return this.#run(signalOf(options), (store) => store.scan());
  }

  /** The memories of {@link Memdir.scan} as a model reads them, one line each (facts 4.5). */
  async manifest(options?: CallOptions): Promise<string> {
    return this.#run(signalOf(options), (store) => store.manifest());
  }

  /**
   * One memory, whole. `path` is relative to the store, with `/`.
   *
   * Rejects with `path-outside-store`, `link-outside`, `not-text`, `too-large`, `not-found` or what
   * else reading gave.
   */
  async read(path: string, options?: CallOptions): Promise<MemoryFile> {
    const relative = check.text(path, "path");
    return this.#run(signalOf(options), (store) => store.read(relative));
  }

  /**
   * What the model is told about its memory, and unless `index` is false the content of `MEMORY.md`
   * as far as it fits (facts 12 and 3). Creates the folder, as the text says that it exists. Null
   * when memory is off.
   */
  async prompt(options?: PromptOptions): Promise<string | null> {
    const given = check.options(options, "options", ["index", "signal"]);
    const index = check.optionalFlag(given["index"], "index");
    const signal = check.optionalSignal(given["signal"]);
    return this.#run(signal, (store) => store.prompt(index === undefined ? {} : { index }));
  }

  /** Waits for the operations that run and lets go of the store. Everything after it is refused. */
  async close(): Promise<void> {
    const first = !this.#closed;
    this.#closed = true;
    await Promise.allSettled(this.#running);
    if (first) {
      free(this.#core, this.#store);
    }
  }

  /** The same as {@link Memdir.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<T>(signal: AbortSignal | undefined, start: (store: Store) => Flow): Promise<T> {
    if (this.#closed) {
      throw invalidArgument("this store is closed; open it again");
    }
    const flow = call(this.#core, () => start(this.#store));
    const running = drive<T>(this.#core, flow, this.#user, signal);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }
}

function signalOf(options: CallOptions | undefined): AbortSignal | undefined {
  return check.optionalSignal(check.options(options, "options", ["signal"])["signal"]);
}
