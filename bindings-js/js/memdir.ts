/// <reference lib="esnext.disposable" preserve="true" />
// The public class: one open store. Every operation is one flow of the core.

import * as check from "./check.js";
import { call, core, end, type Core, type Store } from "./core.js";
import { invalidArgument } from "./errors.js";
import { AFTER_TURN_OPTIONS, asked, askedAfterTurn, EXTRACT_OPTIONS, extractWith } from "./extract.js";
import { drive, type Flow, type Run } from "./host.js";
import { inbox } from "./inbox.js";
import { chain } from "./instructions.js";
import { unpackScan, type PackedScan } from "./pack.js";
import { session } from "./session.js";
import { environment, homeDirectory, workingDirectory } from "./surroundings.js";
import { team } from "./team.js";
import { toolHandlers, type MemoryToolHandlers } from "./tool.js";
import type {
  AfterTurn,
  AfterTurnOptions,
  AgentScope,
  ApproveImportFunction,
  CallOptions,
  Context,
  DrainOptions,
  Dream,
  DreamOptions,
  DreamUndone,
  ExtractOptions,
  Extraction,
  ExtractionRunner,
  ForgetOptions,
  InboxOperations,
  Instructions,
  InstructionsOptions,
  Lint,
  MemoryFile,
  Message,
  ModelFunction,
  Opened,
  OpenOptions,
  PromptOptions,
  Recall,
  RecallOptions,
  SaveOptions,
  Scan,
  SessionNotes,
  Team,
  TokenFunction,
  Transcript,
  WriteResult,
} from "./types.js";
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
  "agent",
  "team",
  "approveImport",
  "signal",
];

const RECALL_OPTIONS = [
  "limit",
  "strategy",
  "recentTools",
  "toolResults",
  "surfaced",
  "alreadyRead",
  "state",
  "signal",
];

const DREAM_OPTIONS = ["force", "dryRun", "logs", "session", "remote", "readRoots", "signal"];

const SAVE_OPTIONS = ["type", "name", "description", "body", "scope", "path", "expect"] as const;

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
  /** The memories that the team shares, and its server. */
  readonly team: Team;
  /** What extractions that are reviewed would change. */
  readonly inbox: InboxOperations;

  readonly #core: Core;
  readonly #store: Store;
  readonly #user: UserFunctions;
  readonly #running = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();
  #closing: Promise<void> | undefined;

  private constructor(instance: Core, store: Store, user: UserFunctions, opened: Opened) {
    this.#core = instance;
    this.#store = store;
    this.#user = user;
    this.directory = opened.directory;
    this.enabled = opened.enabled;
    this.opened = opened;
    this.inbox = inbox((signal, start) => this.#run(signal, start));
    this.team = team((signal, start) => this.#run(signal, start), this.#ending.signal);
  }

  /**
   * Opens the memory folder `directory`, or that of the project that `cwd` lies in: the one that
   * Claude Code uses there (facts 1 and 2). It need not exist yet; opening creates nothing. What was
   * wrong on the way, such as settings that cannot be read, is in `opened.report`.
   *
   * Rejects with `invalid-argument` (also for a model that is none, or that has no key) and
   * `invalid-text`, with the `path-…` codes for a directory that is not accepted (facts 1.5), and with
   * `no-home` when the project's folder would be in a home directory that there is not.
   */
  static async open(options?: OpenOptions): Promise<Memdir> {
    const given = check.options(options, "options", OPEN_OPTIONS);
    const { model, ask } = modelOf(given["model"]);
    const { team, token } = teamOf(given["team"]);
    const user: UserFunctions = {
      onEvent: check.optionalFunction(given["onEvent"], "onEvent"),
      model: ask,
      token,
      approveImport: check.optionalFunction<ApproveImportFunction>(given["approveImport"], "approveImport"),
    };
    const signal = check.optionalSignal(given["signal"]);
    const where = {
      directory: check.optionalText(given["directory"], "directory"),
      cwd: given["cwd"] === undefined ? workingDirectory() : check.optionalText(given["cwd"], "cwd"),
      home: given["home"] === undefined ? homeDirectory() : check.optionalText(given["home"], "home"),
      env: given["env"] === undefined ? environment() : check.environment(given["env"], "env"),
      settings: check.optionalJson(given["settings"], "settings"),
      platform: check.optionalChoice(given["platform"], "platform", ["posix", "windows"]),
      model,
      agent: given["agent"] === undefined || given["agent"] === null ? undefined : check.agent(given["agent"], "agent"),
      team,
      features: featuresOf(given["features"]),
    };
    const instance = core();
    return Memdir.#open(instance, call(instance, () => new instance.Store(where)), user, signal);
  }

  static async #open(instance: Core, store: Store, user: UserFunctions, signal: AbortSignal | undefined): Promise<Memdir> {
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
    return unpackScan(await this.#run<PackedScan>(check.signalOf(options), (store) => store.scan()));
  }

  /** The memories of {@link Memdir.scan} as a model reads them, one line each (facts 4.5). */
  async manifest(options?: CallOptions): Promise<string> {
    return this.#run(check.signalOf(options), (store) => store.manifest());
  }

  /**
   * One memory, whole, with what a save of it takes: its body and its hash. `path` is relative to the
   * store, with `/`.
   *
   * Rejects with `path-outside-store`, `link-outside`, `not-text`, `too-large`, `not-found`, `disabled`
   * or what else reading gave.
   */
  async read(path: string, options?: CallOptions): Promise<MemoryFile> {
    const relative = check.text(path, "path");
    return this.#run(check.signalOf(options), (store) => store.read(relative));
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
   * What people have written for an agent in this project, from the broadest to the nearest: the administrator's, the
   * user's, then folder by folder down to the working directory `CLAUDE.md`, `.claude/CLAUDE.md`, the rules in
   * `.claude/rules`, and `CLAUDE.local.md`, each with what it imports (facts 10; document 001 §2). The report says of
   * every file that was considered what became of it: nothing is cut, and one that cannot be loaded costs no other. They
   * are loaded where memory is off, too, but not with `CLAUDE_CODE_DISABLE_CLAUDE_MDS`. Never writes. Files that have
   * not changed are not read again.
   *
   * Every file that is loaded for the first time is an event of the kind `instructions`. A file outside of the working
   * tree that the project imports needs approval, see {@link OpenOptions.approveImport}.
   *
   * Rejects with `invalid-argument` (also for a path that is not absolute), `invalid-text` and `closed`.
   */
  async instructions(options?: InstructionsOptions): Promise<Instructions> {
    const { signal, wanted } = chain(options);
    return JSON.parse(await this.#run<string>(signal, (store) => store.instructions(wanted))) as Instructions;
  }

  /**
   * What becomes relevant when a file is touched, beside {@link Memdir.instructions}: the rules that are about it, and
   * what the folders between the working directory and it have. `path` is absolute, or relative to the `cwd` that the
   * store was opened with; the file need not be there. What another file has brought already is named in `loaded`.
   * Rejects as {@link Memdir.instructions} does.
   */
  async instructionsFor(path: string, options?: InstructionsOptions): Promise<Instructions> {
    const whole = check.text(path, "path");
    const { signal, wanted } = chain(options);
    return JSON.parse(await this.#run<string>(signal, (store) => store.instructionsFor(whole, wanted))) as Instructions;
  }

  /**
   * Everything that an agent should start with, in order: {@link Memdir.instructions}, how its memory works, and the
   * indexes of the private and the team's memory. Creates the memory folder, as {@link Memdir.prompt} does, and leaves
   * memory out when it is off. Computed once for the same options, and the same to the byte until
   * {@link Memdir.compacted}, so that a provider's prompt cache holds. Rejects as {@link Memdir.instructions} does.
   */
  async context(options?: InstructionsOptions): Promise<Context> {
    const { signal, wanted } = chain(options);
    return JSON.parse(await this.#run<string>(signal, (store) => store.context(wanted))) as Context;
  }

  /**
   * Everything that is wrong with the store, each finding with a remedy. Reads all memories, however
   * many there are, and never writes.
   */
  async lint(options?: CallOptions): Promise<Lint> {
    return this.#run(check.signalOf(options), (store) => store.lint());
  }

  /**
   * The memories that help with `query`, at most five, with as much of their contents as may be shown:
   * 4,096 bytes of each, 20 KiB in all, 60 KiB in a conversation, which `state` keeps the count of
   * (facts 5). The model of the store chooses, if it has one; when it cannot, which is no error but
   * reported, or there is none, the words decide. Counts what it recalled, see `features.countUses`.
   *
   * Rejects with `invalid-argument`, `invalid-text`, and with `no-model` when the strategy is `model`
   * and there is none.
   */
  async recall(query: string, options?: RecallOptions): Promise<Recall> {
    const whole = check.text(query, "query");
    const given = check.options(options, "options", RECALL_OPTIONS);
    const signal = check.optionalSignal(given["signal"]);
    const asked = check.named({
      limit: check.optionalLimit(given["limit"], "limit"),
      strategy: check.optionalChoice(given["strategy"], "strategy", ["auto", "model", "lexical"]),
      recentTools: listed(given["recentTools"], "recentTools", check.text),
      toolResults: listed(given["toolResults"], "toolResults", check.toolResult),
      surfaced: listed(given["surfaced"], "surfaced", check.text),
      alreadyRead: listed(given["alreadyRead"], "alreadyRead", check.text),
      state: stateOf(given["state"]),
    });
    const recall = await this.#run<Omit<Recall, "render">>(signal, (store) => store.recall(whole, asked));
    const render = () => recall.memories.map(({ text }) => text).join("\n\n");
    return Object.defineProperty(recall as Recall, "render", { value: render });
  }

  /**
   * Writes a new memory, or changes one, and its line in the index (facts 3, 4.1 to 4.3), under a lock
   * that all writers share. What is not given stays to the byte, and what is replaced goes to the trash
   * in the store's own folder, `.memdir`. A new memory of a name that is taken gets a file name of its
   * own; saving the same once more changes nothing. With `features.oneStep` there is no index line.
   *
   * What the rules forbid is no error: the result is `refused`, or `conflict` when the file is not what
   * was expected, with the reason in `code`: `invalid-argument`, `invalid-text`, `frontmatter-invalid`,
   * `user-private` (facts 11), `secret-found` (in a team memory; in a private one it is reported),
   * `too-large`, `exists`, `not-found`, the codes of {@link Memdir.read} for a path.
   *
   * Rejects with `invalid-argument` and `invalid-text` for what is no such option, `disabled`, `busy`
   * when others keep writing for 30 s, or what else the disk gave, such as `permission`, `read-only` and
   * `no-space`. A save that was cancelled has been done whole or not at all.
   */
  async save(memory: SaveOptions, options?: CallOptions): Promise<WriteResult> {
    const given = check.optionalTexts(memory, "memory", SAVE_OPTIONS);
    return this.#run(check.signalOf(options), (store) => store.save(given));
  }

  /**
   * Takes a memory away, and its lines in every index before it: the file goes to the trash, from where
   * {@link Memdir.undoForget} has it back for 30 days, unless 100 newer things lie there. Of a team
   * memory the team keeps its copy, which is reported (`team-keeps-copy`), but none comes back from
   * there until it changes. `path` is relative to the store, with `/`.
   *
   * `not-found` is a result that is `refused`; conflicts, all other refusals and errors are those of
   * {@link Memdir.save}.
   */
  async forget(path: string, options?: ForgetOptions): Promise<WriteResult> {
    const relative = check.text(path, "path");
    const given = check.options(options, "options", ["expect", "signal"]);
    const expect = check.optionalText(given["expect"], "expect");
    return this.#run(check.optionalSignal(given["signal"]), (store) => store.forget(relative, expect));
  }

  /**
   * Takes the last {@link Memdir.forget} back, or the last one of `path`, and its index lines with it.
   * The result is `refused` with `not-found` when nothing of the kind was forgotten, and `conflict` with
   * `exists` when there is another memory by now. Errors are those of {@link Memdir.save}.
   */
  async undoForget(path?: string | null, options?: CallOptions): Promise<WriteResult> {
    const relative = check.optionalText(path, "path");
    return this.#run(check.signalOf(options), (store) => store.undoForget(relative));
  }

  /**
   * Appends a note to the log of the day, `logs/YYYY/MM/YYYY-MM-DD.md` in the store, as a bullet with the
   * time, both in the time zone of this machine (facts 12). The file is made when it is missing, and any
   * number of writers may append to it at once. Further lines of the note stay part of the bullet.
   *
   * Rejects with `invalid-argument` for a note without text; results and other errors are those of
   * {@link Memdir.save}.
   */
  async log(text: string, options?: CallOptions): Promise<WriteResult> {
    const note = check.text(text, "text");
    return this.#run(check.signalOf(options), (store) => store.log(note));
  }

  /**
   * Lets the store's model write down what later conversations should know of this one; with `run` your own
   * agent does it. Call it at the end of every turn: whether it is time is decided here, and when it is not, next
   * to nothing is done. `messages` are all of the conversation, or at least those since the last extraction; they
   * are looked at from their end. While one is under way for the same conversation, another one is `queued` and
   * done behind it, and {@link Memdir.close} waits for both. Needs {@link Features.extract} (facts 6).
   *
   * The model may read in the working directory, the store and `readRoots`, and change memories; it takes at most
   * five turns. What it may not do is answered to it with a reason.
   *
   * Rejects with `no-model` when there is none, `invalid-argument` and `invalid-text` for what is no message
   * among those that are looked at, `closed`, or what the disk gave. A run that does not come to its end is a
   * result, `failed`.
   */
  async extract(messages: readonly Message[], options?: ExtractOptions): Promise<Extraction> {
    const conversation = check.items(messages, "messages");
    const given = check.options(options, "options", EXTRACT_OPTIONS);
    const runner = check.optionalFunction<ExtractionRunner>(given["run"], "run");
    const signal = check.optionalSignal(given["signal"]);
    const wanted = asked(given);
    // It is large, and not looked at where nothing is to be done.
    const { request } = given;
    if (runner === undefined) {
      const result = await this.#drive<string>(signal, (store) => store.extract(conversation, request, wanted));
      return JSON.parse(result) as Extraction;
    }
    const begin = (store: Store) => store.beginExtraction(conversation, request, wanted);
    return extractWith(runner, (either, start) => this.#run(either, start), begin, signal);
  }

  /**
   * Does what is to be done in the background after a turn: {@link Memdir.extract}, the notes of the session
   * ({@link SessionNotes.update}) and {@link Memdir.dream}, in this order and each when it is time. Call it in
   * place of these at the end of every turn; need not be awaited, and {@link Memdir.close} waits for it. What fails
   * is told in its result and does not keep the others from their turn. When the store is closed meanwhile, the
   * extraction comes to its end, and what has not begun by then is skipped (`closed`).
   *
   * All three are run with the store's model. An agent that makes extractions with a runner of its own calls them by
   * themselves, one after the other: `extract(messages, { run })`, `session(id).update(messages)`,
   * `dream({ session: id })`. Each has its own gates there too; notes and dreams need a model even so, which may be a
   * function of the agent.
   *
   * Rejects with `invalid-argument` and `invalid-text` for what is no message among those that are looked at,
   * and with `closed`.
   */
  async afterTurn(messages: readonly Message[], options?: AfterTurnOptions): Promise<AfterTurn> {
    const conversation = check.items(messages, "messages");
    const given = check.options(options, "options", AFTER_TURN_OPTIONS);
    const signal = check.optionalSignal(given["signal"]);
    const wanted = askedAfterTurn(given);
    const { request } = given;
    const result = await this.#drive<string>(signal, (store) => store.afterTurn(conversation, request, wanted));
    return JSON.parse(result) as AfterTurn;
  }

  /**
   * Lets the store's model put the memory in order when it is time, which is 24 hours after the last time and
   * when five sessions were held since: what is double is merged, what is wrong corrected, what is missing
   * added. Needs {@link Features.dream} unless it is forced. What the model does takes effect together at its end,
   * where nobody else has changed it meanwhile, and can be taken back with {@link Memdir.undoDream} (facts 7).
   *
   * Rejects with `no-model` when there is none, `invalid-argument`, `closed`, or what the disk gave. A run that
   * does not come to its end is a result, `failed`, and changes nothing.
   */
  async dream(options?: DreamOptions): Promise<Dream> {
    const given = check.options(options, "options", DREAM_OPTIONS);
    const signal = check.optionalSignal(given["signal"]);
    const { readRoots } = given;
    const wanted = check.named({
      force: check.optionalFlag(given["force"], "force"),
      dryRun: check.optionalFlag(given["dryRun"], "dryRun"),
      logs: check.optionalFlag(given["logs"], "logs"),
      session: check.optionalText(given["session"], "session"),
      remote: check.optionalFlag(given["remote"], "remote"),
      readRoots: readRoots === undefined ? undefined : check.texts(readRoots, "readRoots"),
    });
    return JSON.parse(await this.#drive<string>(signal, (store) => store.dream(wanted))) as Dream;
  }

  /**
   * Takes the last dream back that was not taken back yet. What somebody has changed since stays; in indexes
   * only what the dream has changed goes. Rejects with `disabled`, `busy`, or what the disk gave.
   */
  async undoDream(options?: CallOptions): Promise<DreamUndone> {
    return this.#run(check.signalOf(options), (store) => store.undoDream());
  }

  /**
   * The notes of one session, which a compaction puts in place of a summary. `id` is the one that the agent
   * has for it. Nothing is made before the first update.
   */
  session(id: string): SessionNotes {
    const whole = check.text(id, "id");
    const run: Run = (signal, start) => this.#run(signal, start);
    return session(whole, run, (signal, start) => this.#drive(signal, start));
  }

  /**
   * Waits for extractions, notes and dreams that are under way, also for extractions that are queued behind
   * them; gives whether all came to their end by themselves. What is not done in time is stopped before its next
   * call (facts 6.5). A dream takes minutes as a rule; one that is stopped has changed nothing, and the next one does
   * not wait for it.
   */
  async drain(options?: DrainOptions): Promise<boolean> {
    const given = check.options(options, "options", ["timeoutMs", "signal"]);
    const timeoutMs = check.optionalDuration(given["timeoutMs"], "timeoutMs");
    return this.#run(check.optionalSignal(given["signal"]), (store) => store.drain(timeoutMs));
  }

  /**
   * The end of the conversation in a file, as `parseTranscript` of `memdir/rules` gives it: messages for
   * {@link Memdir.extract}. `path` is absolute, or relative to the `cwd` that the store was opened with. The store
   * itself is not looked at, so this works where memory is off, too. Never writes.
   *
   * Rejects with `invalid-argument` for a relative path without a `cwd`, `not-found`, `is-a-directory`,
   * `unsupported` for what is no regular file, or what reading gave.
   */
  async transcript(path: string, options?: CallOptions): Promise<Transcript> {
    const whole = check.text(path, "path");
    const text = await this.#run<string>(check.signalOf(options), (store) => store.transcript(whole));
    return JSON.parse(text) as Transcript;
  }

  /**
   * The memory of an agent: another store, opened with the options of this one and closed by itself. It is
   * in `agent-memory` of the config home for the scope `user`, of the project's nearest `.claude` for
   * `project`, and in `agent-memory-local` there for `local` (facts 9). Every name has a folder of its own,
   * and opening creates nothing.
   *
   * Rejects with `invalid-argument` for a name without anything in it, for a scope that is none, and for
   * `project` and `local` when there is no `cwd`; with `path-nul`; with `link-outside` when links lead out of
   * the project for these two, as every later call does; and as {@link Memdir.open} does.
   */
  async agent(name: string, scope: AgentScope, options?: CallOptions): Promise<Memdir> {
    const whole = check.text(name, "name");
    const shared = check.text(scope, "scope");
    const signal = check.signalOf(options);
    const store = call(this.#core, () => this.#store.agent(whole, shared));
    return Memdir.#open(this.#core, store, this.#user, signal);
  }

  /**
   * The memory tool of Anthropic's Messages API over this store, as handlers for `betaMemoryTool` of
   * `@anthropic-ai/sdk`. The model knows the store as `/memories`; what a handler gives is text for the
   * model, and so is the message of an error. Writing takes the lock that all writers share, and what is
   * replaced or deleted goes to the trash. `signal` cancels all that the handlers do.
   *
   * They reject with `invalid-argument` (also for a text to be replaced that is not there exactly once, and
   * for a line that is not there), `path-outside-store` and the like for a path, `not-found`, `exists`,
   * `not-text`, `too-large`, for team memories `user-private` and `secret-found`, `disabled`, `busy`, or
   * what the disk gave.
   */
  tool(options?: CallOptions): MemoryToolHandlers {
    const signal = check.signalOf(options);
    return toolHandlers((input) => this.#run(signal, (store) => store.tool(input)));
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
   * Ends the use of the store: stops {@link Team.watch}, waits for the operations that run, for those in
   * the background as {@link Memdir.drain} does, and writes what is still to be written. When the team's server was spoken
   * to, what was changed here since goes there, which takes at most two seconds; an event (`team-not-sent`)
   * names what did not make it.
   * Everything that begins after it rejects with `closed`, but for another `close`, which waits for the
   * first.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** The same as {@link Memdir.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(): Promise<void> {
    let flow: Flow | undefined;
    end(this.#core, () => {
      flow = this.#store.close();
    });
    this.#ending.abort();
    // What they leave behind is written, too.
    await Promise.allSettled(this.#running);
    if (flow !== undefined) {
      await drive(this.#core, flow, this.#user);
    }
  }

  /** Runs a flow that closing does not wait for by itself: for what is in the background the core does, within limits. */
  async #drive<T>(signal: AbortSignal | undefined, start: (store: Store) => Flow): Promise<T> {
    const flow = call(this.#core, () => start(this.#store));
    return drive<T>(this.#core, flow, this.#user, signal);
  }

  async #run<T>(signal: AbortSignal | undefined, start: (store: Store) => Flow): Promise<T> {
    const running = this.#drive<T>(signal, start);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }
}

const FEATURES = ["team", "extract", "extractNonInteractive", "oneStep", "dailyLog", "dream", "countUses"] as const;

/** What is switched on; what is not named stays as the core has it. */
function featuresOf(value: unknown): Record<string, unknown> {
  const given = check.options(value, "features", [...FEATURES, "extractEvery"]);
  const flags = FEATURES.map((feature) => [feature, check.optionalFlag(given[feature], `features.${feature}`)]);
  const extractEvery = check.optionalCount(given["extractEvery"], "features.extractEvery");
  return check.named({ ...Object.fromEntries(flags), extractEvery });
}

/** What the core is told of the model, and the user's function if it is one. */
function modelOf(value: unknown): { model?: object; ask?: ModelFunction } {
  if (value === undefined || value === null) {
    return {};
  }
  if (typeof value === "function") {
    return { model: { name: "function" }, ask: value as ModelFunction };
  }
  const model = check.model(value, "model");
  if (model.name === "function") {
    throw invalidArgument("model must be the function itself, not its kind");
  }
  return { model };
}

/** What the core is told of the team, and the user's function that gives a token if there is one. */
function teamOf(value: unknown): { team?: object; token?: TokenFunction } {
  if (value === undefined || value === null) {
    return {};
  }
  const given = check.options(value, "team", ["url", "token", "repository", "deletions"]);
  const ask = typeof given["token"] === "function" ? (given["token"] as TokenFunction) : undefined;
  const team = check.named({
    url: check.optionalText(given["url"], "team.url"),
    token: ask === undefined ? check.optionalText(given["token"], "team.token") : undefined,
    askToken: ask !== undefined,
    repository: check.optionalText(given["repository"], "team.repository"),
    deletions: check.optionalChoice(given["deletions"], "team.deletions", ["keep", "propagate"]),
  });
  return ask === undefined ? { team } : { team, token: ask };
}

/** What a conversation has been shown, if it is given. */
function stateOf(value: unknown): object | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const given = check.options(value, "state", ["surfaced", "bytes"]);
  return { surfaced: check.texts(given["surfaced"], "state.surfaced"), bytes: check.size(given["bytes"], "state.bytes") };
}

function listed<T>(value: unknown, name: string, item: (value: unknown, name: string) => T): T[] | undefined {
  return value === undefined ? undefined : check.listOf(value, name, item);
}
