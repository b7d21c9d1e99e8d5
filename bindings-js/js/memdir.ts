/// <reference lib="esnext.disposable" preserve="true" />
// The public class: one open store. Every operation is one flow of the core.

import * as check from "./check.js";
import { call, core, end, type Core } from "./core.js";
import { drive, type Flow } from "./host.js";
import { unpackScan, type PackedScan } from "./pack.js";
import { environment, homeDirectory, workingDirectory } from "./surroundings.js";
import type { CallOptions, Lint, MemoryFile, Opened, OpenOptions, PromptOptions, Scan } from "./types.js";
import type { UserFunctions } from "./user.js";

const OPEN_OPTIONS = [
  "directory",
  "cwd",
  "home",
  "env",
  "settings",
  "platform",
  "features",
  "onEvent",
  "model",
  "signal",
];

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
  /** All that opening found: why this folder, why on or off, what was refused. */
  readonly opened: Opened;

  readonly #core: Core;
  readonly #store: Store;
  readonly #user: UserFunctions;
  readonly #running = new Set<Promise<unknown>>();

  private constructor(instance: Core, store: Store, user: UserFunctions, opened: Opened) {
    this.#core = instance;
    this.#store = store;
    this.#user = user;
    this.directory = opened.directory;
    this.enabled = opened.enabled;
    this.opened = opened;
  }

  /**
   * Opens the memory folder `directory`, or that of the project that `cwd` lies in: the one that
   * Claude Code uses there (facts 1 and 2). It need not exist yet; opening creates nothing. What was
   * wrong on the way, such as settings that cannot be read, is in `opened.report`.
   *
   * Rejects with `invalid-argument` and `invalid-text`, with the `path-…` codes for a directory that
   * is not accepted (facts 1.5), and with `no-home` when the project's folder would be in a home
   * directory that there is not.
   */
  static async open(options?: OpenOptions): Promise<Memdir> {
    const given = check.options(options, "options", OPEN_OPTIONS);
    const user: UserFunctions = {
      onEvent: check.optionalFunction(given["onEvent"], "onEvent"),
      model: check.optionalFunction(given["model"], "model"),
    };
    const signal = check.optionalSignal(given["signal"]);
    const where = {
      directory: check.optionalText(given["directory"], "directory"),
      cwd: given["cwd"] === undefined ? workingDirectory() : check.optionalText(given["cwd"], "cwd"),
      home: given["home"] === undefined ? homeDirectory() : check.optionalText(given["home"], "home"),
      env: given["env"] === undefined ? environment() : check.environment(given["env"], "env"),
      settings: check.optionalJson(given["settings"], "settings"),
      platform: check.optionalText(given["platform"], "platform"),
      features: featuresOf(given["features"]),
    };
    const instance = core();
    const store = call(instance, () => new instance.Store(where));
    try {
      const opened = await drive<Opened>(instance, call(instance, () => store.open()), user, signal);
      return new Memdir(instance, store, user, opened);
    } catch (error) {
      end(instance, () => store.free());
      throw error;
    }
  }

  /**
   * Lists the memories, newest first and at most 200, and reports every file that could not be one
   * (facts 4.4). Never writes. A folder that does not exist has no memories. Files that have not
   * changed since the last scan are not read again.
   */
  async scan(options?: CallOptions): Promise<Scan> {
    return unpackScan(await this.#run<PackedScan>(signalOf(options), (store) => store.scan()));
  }

  /** The memories of {@link Memdir.scan} as a model reads them, one line each (facts 4.5). */
  async manifest(options?: CallOptions): Promise<string> {
    return this.#run(signalOf(options), (store) => store.manifest());
  }

  /**
   * One memory, whole. `path` is relative to the store, with `/`.
   *
   * Rejects with `path-outside-store`, `link-outside`, `not-text`, `too-large`, `not-found`, `disabled`
   * or what else reading gave.
   */
  async read(path: string, options?: CallOptions): Promise<MemoryFile> {
    const relative = check.text(path, "path");
    return this.#run(signalOf(options), (store) => store.read(relative));
  }

  /**
   * What the model is told about its memory, and unless `index` is false the content of `MEMORY.md`
   * as far as it fits (facts 12 and 3). Creates the folder, as the text says that it exists. Null
   * when memory is off. Computed once for the same options, and the same to the byte until
   * {@link Memdir.compacted}.
   */
  async prompt(options?: PromptOptions): Promise<string | null> {
    const given = check.options(options, "options", ["index", "pastContext", "guidelines", "signal"]);
    const parts = {
      index: check.optionalFlag(given["index"], "index") ?? true,
      pastContext: check.optionalFlag(given["pastContext"], "pastContext") ?? false,
      guidelines: given["guidelines"] === undefined ? [] : check.texts(given["guidelines"], "guidelines"),
    };
    const signal = check.optionalSignal(given["signal"]);
    return this.#run(signal, (store) => store.prompt(parts));
  }

  /**
   * Everything that is wrong with the store, each finding with a remedy. Reads all memories, however
   * many there are, and never writes.
   */
  async lint(options?: CallOptions): Promise<Lint> {
    return this.#run(signalOf(options), (store) => store.lint());
  }

  /**
   * Drops everything that was remembered, as after the compaction of a conversation: the next
   * operation finds the store anew, reads every file and computes the prompt. `directory`, `enabled`
   * and `opened` stay what they were.
   */
  compacted(): void {
    call(this.#core, () => this.#store.compacted());
  }

  /**
   * Ends the use of the store and waits for the operations that run. Everything that begins after it
   * rejects with `closed`.
   */
  async close(): Promise<void> {
    end(this.#core, () => this.#store.close());
    await Promise.allSettled(this.#running);
  }

  /** The same as {@link Memdir.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<T>(signal: AbortSignal | undefined, start: (store: Store) => Flow): Promise<T> {
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

const FEATURES = ["team", "extract", "extractNonInteractive", "oneStep", "dailyLog", "dream"] as const;

/** What is switched on; what is not named stays as the core has it. */
function featuresOf(value: unknown): Record<string, unknown> {
  const given = check.options(value, "features", [...FEATURES, "extractEvery"]);
  const named: Record<string, unknown> = {};
  for (const feature of FEATURES) {
    named[feature] = check.optionalFlag(given[feature], `features.${feature}`);
  }
  named["extractEvery"] = check.optionalCount(given["extractEvery"], "features.extractEvery");
  return Object.fromEntries(Object.entries(named).filter(([, setting]) => setting !== undefined));
}

function signalOf(options: CallOptions | undefined): AbortSignal | undefined {
  return check.optionalSignal(check.options(options, "options", ["signal"])["signal"]);
}
