// `memdir/rules`: the rules that can be used without opening a store. All of them are synchronous
// and touch neither files nor network. What they throw is a `MemdirError`: `invalid-text` for text
// with half of a surrogate pair, `invalid-argument` for anything of the wrong type, and what each
// says beside these.

import * as check from "./check.js";
import { call, core, type Core } from "./core.js";
import type {
  Age,
  Awake,
  Choice,
  Compaction,
  CompactionQuestion,
  CutMemory,
  DirectoryQuestion,
  DreamGate,
  Edited,
  Enabled,
  EnabledSettings,
  ErrorInfo,
  ExtractionDecision,
  ExtractionGate,
  ExtractionState,
  Finding,
  Found,
  Frontmatter,
  IndexEntry,
  InstructionPlace,
  LintInput,
  LintMemory,
  LockLook,
  MemoryChanges,
  MemoryHeader,
  MemoryPlaces,
  MemoryType,
  MergedIndex,
  Message,
  ModelHttp,
  ModelOptions,
  ModelRequest,
  NotesDue,
  NotesMeasure,
  ParsedInstructions,
  PathKind,
  PlacesQuestion,
  Platform,
  RankedMemory,
  ResolvedImport,
  Scope,
  SecretFinding,
  Selection,
  Settings,
  ShellStage,
  TeamAction,
  TemplateValues,
  ToolAnswer,
  ToolClass,
  ToolRequest,
  ToolResult,
  Transcript,
  Truncation,
  Word,
} from "./types.js";

export type * from "./types.js";

/**
 * Cuts an index (`MEMORY.md`) to what a prompt takes: 200 lines, then 25,000 UTF-8 bytes at a line
 * end; a single longer line is cut between characters. Both flags are judged on the whole trimmed
 * text (facts 3).
 */
export function truncateIndex(text: string): Truncation {
  const whole = check.text(text, "text");
  return rule((core) => core.truncateIndex(whole));
}

/**
 * Reads the block at the head of a memory, or of its first bytes. Never fails on content: what is
 * broken is left out and named in `problems` (facts 4.1 to 4.3).
 */
export function parseFrontmatter(text: string): Frontmatter {
  const whole = check.text(text, "text");
  return rule((core) => core.parseFrontmatter(whole));
}

/**
 * The list of memories as a model reads it, in the given order: one line each, joined by LF, with
 * nothing in a memory that could pose as another line (facts 4.5).
 */
export function formatManifest(memories: readonly MemoryHeader[]): string {
  const headers = check.list<MemoryHeader>(memories, "memories");
  return rule((core) => core.formatManifest(headers));
}

/**
 * The name of a project's folder, from its absolute path (facts 1.1). Distinct paths can share one.
 */
export function projectSlug(path: string): string {
  const whole = check.text(path, "path");
  return rule((core) => core.projectSlug(whole));
}

/**
 * The folder name of a project whose slug belongs to another project already: the slug, and eight
 * digits of a hash of the path, so that no other path has it.
 */
export function injectiveKey(path: string): string {
  const whole = check.text(path, "path");
  return rule((core) => core.injectiveKey(whole));
}

/**
 * What a switch in the environment says: `1 true yes on` and `0 false no off`, in any case, trimmed.
 * Null for anything else (facts 2).
 */
export function envFlag(value: string | null | undefined): boolean | null {
  const given = check.optionalText(value, "value");
  return rule((core) => core.envFlag(given)) ?? null;
}

/**
 * Whether memory is on, and what decided it: the switches of the environment, then the settings. A
 * project's settings can only switch it off (facts 2).
 */
export function memoryEnabled(env: Record<string, string | undefined>, settings?: EnabledSettings): Enabled {
  const variables = check.environment(env, "env");
  const given = check.options(settings, "settings", SOURCES);
  const [policy, flag, local, project, user] = SOURCES.map((source) =>
    check.optionalFlag(given[source] ?? undefined, `settings.${source}`),
  );
  return rule((core) => core.memoryEnabled(variables, policy, flag, local, project, user));
}

/**
 * Where a project's store is: where the environment says, else where trusted settings say, else the
 * project's folder below the config home (facts 1.2 to 1.4). What is not acceptable is passed over
 * and named in `refused`.
 *
 * Throws `no-home` when the default place is needed and there is no home directory, and the codes of
 * {@link validateMemoryPath} when the default place is not acceptable.
 */
export function chooseDirectory(question: DirectoryQuestion): Choice {
  const given = check.options(question, "question", ["platform", "home", "env", "settings", "projectRoot"]);
  const platform = check.text(given["platform"], "platform");
  const home = check.optionalText(given["home"], "home");
  const env = check.environment(given["env"], "env");
  const named = check.options(given["settings"], "settings", SOURCES);
  const settings: Record<string, string> = {};
  for (const source of SOURCES) {
    const path = check.optionalText(named[source], `settings.${source}`);
    if (path !== undefined) {
      settings[source] = path;
    }
  }
  const projectRoot = check.text(given["projectRoot"], "projectRoot");
  return rule((core) => core.chooseDirectory(platform, home, env, settings, projectRoot));
}

/** Reads a settings file. Never fails on content: what cannot be used is named in `problems`. */
export function parseSettings(text: string): Settings {
  const whole = check.text(text, "text");
  return rule((core) => core.parseSettings(whole));
}

/**
 * How old a memory is at `nowMs`: counted from its own `modified` time when it has one that is not in
 * the future, else from the file's modification time (facts 5.5).
 */
export function memoryAge(times: { mtimeMs: number; modifiedMs?: number | null | undefined; nowMs: number }): Age {
  const given = check.options(times, "times", ["mtimeMs", "modifiedMs", "nowMs"]);
  const mtimeMs = check.time(given["mtimeMs"], "mtimeMs");
  const modifiedMs = check.optionalTime(given["modifiedMs"], "modifiedMs");
  const nowMs = check.time(given["nowMs"], "nowMs");
  return rule((core) => core.memoryAge(mtimeMs, modifiedMs, nowMs));
}

/**
 * Where a memory belongs when nothing else is said: what is about one person stays private, what is
 * about the project goes to the team, if there is one (facts 11).
 */
export function defaultScope(type: MemoryType | null | undefined, options: { team: boolean }): Scope {
  const kind = check.optionalText(type, "type");
  const team = check.flag(check.options(options, "options", ["team"])["team"], "team");
  return rule((core) => core.defaultScope(kind, team));
}

/**
 * What is wrong with a store's indexes and memories: links that lead nowhere, memories that nothing
 * leads to, frontmatter that will not be understood. By path, line and code.
 */
export function lintMemories(input: LintInput): Finding[] {
  const given = check.options(input, "input", ["index", "teamIndex", "memories"]);
  const index = check.optionalText(given["index"], "index");
  const teamIndex = check.optionalText(given["teamIndex"], "teamIndex");
  const memories = check.list<LintMemory>(given["memories"], "memories").flatMap((memory, position) => {
    const { path, text } = check.options(memory, `memories[${position}]`, ["path", "text"]);
    return [check.text(path, `memories[${position}].path`), check.text(text, `memories[${position}].text`)];
  });
  return rule((core) => core.lintMemories(index, teamIndex, memories));
}

/**
 * The file name of a new memory: its type, its name in lower case with `_` for everything but letters
 * and digits, in any script, at most 48 bytes of it, and from 2 on `number` (facts 4.3). `number`
 * counts the memories whose names give the same file name; 1 unless it is given. A name with nothing to
 * keep gives eight digits of its hash.
 */
export function memoryFileName(type: MemoryType, name: string, number?: number): string {
  const kind = check.text(type, "type");
  const whole = check.text(name, "name");
  const count = check.optionalCount(number, "number") ?? 1;
  return rule((core) => core.memoryFileName(kind, whole, count));
}

/**
 * The text of a memory with `changes` in it and every other byte as it was: order of keys, comments,
 * unknown keys, quotes, line ends, BOM. `text` is null when there is no such file yet. Values are
 * written so that every reader of YAML takes them as the same text (facts 4.1 to 4.3).
 *
 * Throws `invalid-argument` for an empty name and for a time that is none, `invalid-text` also for a
 * NUL, `too-large` for frontmatter that would not be read (30 lines, 64 KiB) or a text above 4 MiB, and
 * `frontmatter-invalid` for frontmatter that cannot be changed without risk.
 */
export function updateMemory(text: string | null, changes: MemoryChanges): Edited {
  const whole = check.optionalText(text, "text");
  const given = check.optionalTexts(changes, "changes", ["name", "description", "type", "modified", "body"]);
  const { name, description, type, modified, body } = given;
  return rule((core) => core.updateMemory(whole, name, description, type, modified, body));
}

/**
 * The index of `folder` (`""` or `team`) with the line of the memory at `path`, which is relative to the
 * store: added after the last one, put in the place of the old one, or with a null `entry` taken out.
 * All other lines stay; a line about several memories only loses its link (facts 3). `text` is null
 * when there is no index yet. Throws `too-large` when it would have more than 4 MiB.
 */
export function updateIndex(text: string | null, folder: string, path: string, entry: IndexEntry | null): Edited {
  const whole = check.optionalText(text, "text");
  const place = check.text(folder, "folder");
  const target = check.text(path, "path");
  const { name, description } = indexEntry(entry);
  return rule((core) => core.updateIndex(whole, place, target, name, description));
}

/**
 * A memory directory in its canonical form: absolute, normalised, NFC, with one trailing separator
 * (facts 1.5). `home` lets a leading `~/` stand for it. Throws one of the `path-…` codes for a
 * directory that is not accepted.
 */
export function validateMemoryPath(path: string, options: { platform: Platform; home?: string | null | undefined }): string {
  const whole = check.text(path, "path");
  const given = check.options(options, "options", ["platform", "home"]);
  const platform = check.text(given["platform"], "platform");
  const home = check.optionalText(given["home"], "home");
  return rule((core) => core.validateMemoryPath(whole, platform, home));
}

/**
 * The local entries (key to content) that the server does not have yet: those whose checksum
 * (`sha256:` and lower-case hex) is not the server's, or that it lacks (facts 11.4). Keys come in
 * byte order.
 */
export function teamDelta(local: Record<string, string>, server: Record<string, string>): Record<string, string> {
  const mine = check.entries(local, "local");
  const theirs = check.entries(server, "server");
  return Object.fromEntries(rule((core) => core.teamDelta(mine, theirs)) as Map<string, string>);
}

/**
 * Splits entries into batches of at most `maxBytes` UTF-8 bytes of compact JSON each, the envelope
 * counted (unless it is given, the limit of one upload, facts 11.3 and 11.4). An entry that alone is
 * larger stands alone. Batches follow the byte order of keys; within an object JavaScript itself puts
 * keys that are whole numbers first.
 */
export function batchEntries(
  entries: Record<string, string>,
  options?: { maxBytes?: number | null | undefined },
): Record<string, string>[] {
  const all = check.entries(entries, "entries");
  const maxBytes = check.optionalCount(check.options(options, "options", ["maxBytes"])["maxBytes"], "maxBytes");
  const batches = rule((core) => core.batchEntries(all, maxBytes)) as Map<string, string>[];
  return batches.map((batch) => Object.fromEntries(batch));
}

/**
 * `owner/repo` (with all groups, where there are some) of the address of a git remote, which a team's
 * memories are kept under; the host does not count. Null for a local path, and for what is no such address
 * (facts 11.2).
 */
export function teamRepository(remote: string): string | null {
  const address = check.text(remote, "remote");
  return rule((core) => core.teamRepository(address)) ?? null;
}

/**
 * What a sync does about each team memory; what is in order is left out. All four map keys to checksums
 * (`sha256:` and lower-case hex): `base` what both sides had after the last sync, `local` what is here,
 * `server` what is there, `forgotten` what was forgotten here. Whoever has not changed a memory takes the
 * other's version; deletions do not propagate by themselves (facts 11.4).
 */
export function teamReconcile(
  base: Record<string, string>,
  local: Record<string, string>,
  server: Record<string, string>,
  forgotten: Record<string, string>,
): Record<string, TeamAction> {
  const before = check.entries(base, "base");
  const mine = check.entries(local, "local");
  const theirs = check.entries(server, "server");
  const gone = check.entries(forgotten, "forgotten");
  return Object.fromEntries(rule((core) => core.teamReconcile(before, mine, theirs, gone)) as Map<string, TeamAction>);
}

/**
 * The server's version of the team's index with what `local` has changed since `base` in it, line by line,
 * each known by the memory that it links to. `base` is the version that both had last; when it is null,
 * nothing counts as removed. The whole texts come in and go out.
 */
export function mergeTeamIndex(base: string | null, local: string, server: string): MergedIndex {
  const before = check.optionalText(base, "base");
  const mine = check.text(local, "local");
  const theirs = check.text(server, "server");
  return rule((core) => core.mergeTeamIndex(before, mine, theirs));
}

/**
 * Milliseconds to wait before the next try of a request, after `retries` tries beyond the first that failed:
 * what the server asked for in its header `retry-after` (seconds; a date counts as none), else 500 ms,
 * doubled each time up to 32 s, and up to a quarter more by `random`, from 0 to 255 (facts 11.3).
 */
export function retryPauseMs(retries: number, random: number, retryAfter?: string | null): number {
  const tried = check.count(retries, "retries");
  const byte = check.count(random, "random", 0xff);
  const asked = check.optionalText(retryAfter, "retryAfter");
  return rule((core) => core.retryPauseMs(tried, byte, asked));
}

/**
 * Accepts the key of a team memory as it is: its path relative to the team folder, with `/` between its
 * parts. What is harmless and one file here must be so on every teammate's system; `others` are the keys
 * that are there already, of which none may be the same file somewhere (facts 11.1).
 *
 * Throws `path-empty`, `path-nul` and the `key-…` codes: the first that holds.
 */
export function validateTeamKey(key: string, others: readonly string[]): string {
  const whole = check.text(key, "key");
  const known = check.texts(others, "others");
  return rule((core) => core.validateTeamKey(whole, known));
}

/**
 * What a path is to memory; `none` for one that is not absolute, and for memdir's own files. `places` are
 * those of {@link Opened.places}. Nothing is looked up: a link is taken for what its name says (facts 12).
 */
export function classifyPath(path: string, places: MemoryPlaces): PathKind {
  const whole = check.text(path, "path");
  const known = check.places(places, "places");
  return rule((core) => core.classifyPath(whole, known));
}

/**
 * What a call of one of Claude Code's tools has to do with memory. `input` is the JSON text of the tool's
 * arguments; one of another shape has nothing to do with it. In a shell command every absolute path counts,
 * one of the team before others (facts 12).
 */
export function classifyToolCall(name: string, input: string, places: MemoryPlaces): ToolClass {
  const tool = check.text(name, "name");
  const json = check.text(input, "input");
  const known = check.places(places, "places");
  return rule((core) => core.classifyToolCall(tool, json, known));
}

/**
 * Whether an agent may write to a path without asking: a Markdown file of the store, of the team or of an
 * agent, unless the environment has put the store somewhere of its own (facts 12). Nothing is looked up: a
 * repository can bring links along, so give the path with links resolved.
 */
export function mayWrite(path: string, places: MemoryPlaces): boolean {
  const whole = check.text(path, "path");
  const known = check.places(places, "places");
  return rule((core) => core.mayWrite(whole, known));
}

/**
 * What a few calls of tools did with memory, one line each for the agent's log, such as
 * `Recalled 3 team memories`: in the present while they run, in the past when they are `done`. The same path
 * counts once (facts 12).
 */
export function summariseToolCalls(calls: readonly ToolClass[], done: boolean): string[] {
  const classes = check.list<ToolClass>(calls, "calls");
  const past = check.flag(done, "done");
  return rule((core) => core.summariseToolCalls(classes, past));
}

/**
 * The secrets in a text, in their order, none within another: tokens, keys, and passwords in addresses that
 * have a shape of their own. What only its name makes a secret is not found.
 */
export function scanSecrets(text: string): SecretFinding[] {
  const whole = check.text(text, "text");
  return rule((core) => core.scanSecrets(whole));
}

/** The text with a note of its kind in the place of every secret, and all else as it was. */
export function redactSecrets(text: string): string {
  const whole = check.text(text, "text");
  return rule((core) => core.redactSecrets(whole));
}

/**
 * The words of a text that a ranking counts, in their order; what stands in any text (`the`) is left
 * out. English words are stems, which are not for people to read.
 */
export function tokenize(text: string): Word[] {
  const whole = check.text(text, "text");
  return rule((core) => core.tokenize(whole));
}

/**
 * The memories that a query finds by its words, best first, at equal scores by path; none when
 * nothing in them surely answers it. What a recall without a model goes by.
 */
export function rankMemories(query: string, memories: readonly RankedMemory[]): Found[] {
  const whole = check.text(query, "query");
  const texts: string[] = [];
  const numbers: number[] = [];
  check.listOf(memories, "memories", (memory, name) => {
    const { path, text, ageDays, uses } = check.options(memory, name, ["path", "text", "ageDays", "uses"]);
    texts.push(check.text(path, `${name}.path`), check.text(text, `${name}.text`));
    numbers.push(check.optionalCount(ageDays, `${name}.ageDays`) ?? 0, check.optionalCount(uses, `${name}.uses`) ?? 0);
  });
  return rule((core) => core.rankMemories(whole, texts, Uint32Array.from(numbers)));
}

/**
 * Cuts the beginning of a memory down to 200 lines and `maxBytes` (at most 4,096) UTF-8 bytes. `size`
 * is that of the whole file in bytes, of which `text` may be the beginning; `path` is what the model
 * is told to read for the rest (facts 5.4).
 */
export function cutMemory(text: string, size: number, path: string, maxBytes: number): CutMemory {
  const whole = check.text(text, "text");
  const bytes = check.size(size, "size");
  const rest = check.text(path, "path");
  const most = check.size(maxBytes, "maxBytes");
  return rule((core) => core.cutMemory(whole, bytes, rest, most));
}

/**
 * How many bytes of each of these memories a recall may show, by their sizes in bytes: at most five
 * memories, 4,096 bytes each, 20 KiB together, and 60 KiB in a conversation, of which `used` are
 * gone. 0 for a memory that is left out, because it would be a scrap (facts 5.1, 5.4).
 */
export function grantBytes(used: number, sizes: readonly number[]): number[] {
  const gone = check.size(used, "used");
  const wanted = Float64Array.from(check.listOf(sizes, "sizes", check.size));
  return Array.from(rule((core) => core.grantBytes(gone, wanted)));
}

/**
 * Reads which memories a model chose: the last JSON object in its answer that has a list
 * `selected_memories`, else a list by itself, whatever stands around it. A path must be exactly one
 * of `candidates` (facts 5.2). Throws `model-answer` when there is no such list.
 */
export function readSelection(answer: string, candidates: readonly string[]): Selection {
  const whole = check.text(answer, "answer");
  const paths = check.texts(candidates, "candidates");
  return rule((core) => core.readSelection(whole, paths));
}

/**
 * The tools in use: those that succeeded and did not fail, each once, in the order in which they
 * first succeeded. `results` are those since the user's message before the last one (facts 5.3).
 */
export function recentTools(results: readonly ToolResult[]): string[] {
  const all = check.listOf(results, "results", check.toolResult);
  return rule((core) => core.recentTools(all));
}

/**
 * The request as it goes over the wire to `anthropic/` or `openai/`; no environment is looked at.
 * Throws `invalid-argument` for a model or an address that is none, and for the provider's own
 * address without a key.
 */
export function encodeModelRequest(model: ModelOptions, request: ModelRequest): ModelHttp {
  const { name, apiKey, baseUrl } = check.model(model, "model");
  const given = check.options(request, "request", ["purpose", "system", "messages", "maxTokens", "schema"]);
  const purpose = check.text(given["purpose"], "request.purpose");
  const system = check.text(given["system"], "request.system");
  const messages = check.listOf(given["messages"], "request.messages", check.message);
  const maxTokens = check.count(given["maxTokens"], "request.maxTokens");
  const schema = check.optionalJson(given["schema"], "request.schema");
  return rule((core) => core.encodeModelRequest(name, apiKey, baseUrl, purpose, system, messages, maxTokens, schema));
}

/**
 * The text of a provider's answer: `name` is the model's as in {@link ModelOptions}, `status` the HTTP
 * status, `body` what came with it.
 *
 * Throws `model-auth` (401, 403), `model-not-found` (404), `model-busy` (408, 409, 429, 5xx: worth
 * another try), `model-refused` (any other status), `model-answer` when the body is no JSON or has no
 * text in it, and `invalid-argument` for a name that is none.
 */
export function decodeModelAnswer(name: string, status: number, body: string): string {
  const model = check.text(name, "name");
  const code = check.count(status, "status", 0xffff);
  const answer = check.text(body, "body");
  return rule((core) => core.decodeModelAnswer(model, code, answer));
}

/**
 * The next request of a conversation with tools as it goes over the wire to `anthropic/` or `openai/`; no
 * environment is looked at. What a prefix says stays as it is written, so that the provider finds it in its
 * prompt cache, but for the limit of tokens, streaming, and a choice of tools that leaves the model none.
 *
 * Throws `invalid-argument` as {@link encodeModelRequest} does, for a prefix that is no object with a list of
 * messages or that has a member twice, and for a turn whose answer is no object.
 */
export function encodeToolRequest(model: ModelOptions, request: ToolRequest): ModelHttp {
  const { name, apiKey, baseUrl } = check.model(model, "model");
  const given = check.json(request, "request");
  return rule((core) => core.encodeToolRequest(name, apiKey, baseUrl, given));
}

/**
 * What a provider's answer says in a conversation with tools. Throws as {@link decodeModelAnswer} does, but that
 * an answer without text is none too.
 */
export function decodeToolAnswer(name: string, status: number, body: string): ToolAnswer {
  const model = check.text(name, "name");
  const code = check.count(status, "status", 0xffff);
  const answer = check.text(body, "body");
  return rule((core) => core.decodeToolAnswer(model, code, answer));
}

/**
 * A conversation as it is shown to a model that has not taken part in it: who said what, calls of tools and their
 * results cut to 2,000 bytes each, the newest 120,000 bytes of all. What the agent's program has put in (`isMeta`),
 * thinking and images are left out. Throws `invalid-argument` for what is no message.
 */
export function conversationText(messages: readonly Message[]): string {
  const conversation = check.items(messages, "messages");
  return rule((core) => core.conversationText(conversation));
}

/**
 * Whether the end of a turn is the time for an extraction; `messages` are looked at from their end (facts 6.1).
 * Throws `invalid-argument` for what is no message.
 */
export function decideExtraction(
  messages: readonly Message[],
  state: ExtractionState,
  gate: ExtractionGate,
): ExtractionDecision {
  const conversation = check.items(messages, "messages");
  const before = check.extractionState(state, "state");
  const given = check.extractionGate(gate, "gate");
  return rule((core) => core.decideExtraction(conversation, before, given));
}

/**
 * The messages of a transcript: a session of Claude Code (an object a line, with `type` and `message`), messages
 * one a line, or an array of messages. What is no message is skipped, and what is broken is counted in the report.
 *
 * - Messages are lines of type `user` and `assistant`, not those of sub agents (`isSidechain`); and objects with a
 *   `role` of these two. `isMeta` and `isCompactSummary` mark what no person wrote.
 * - Lines of an answer that follow each other and have the same `message.id` are one message, named by the last
 *   one's `uuid`.
 * - A line whose `parentUuid` leads to an earlier message begins a new branch, and what followed that message is
 *   dropped; but a tool's result, and a further line of the answer that it leads to, follow lines that stand side
 *   by side. An unknown parent drops nothing.
 * - A last line without its end that is not whole JSON is still being written, which is no problem.
 * - Of a tool's result, texts are kept, up to 64 KiB and then a mark; of its other blocks only the type.
 * - The newest 10,000 messages and 16 MiB are kept, and no line with more than 8 MiB or 20,000 values.
 */
export function parseTranscript(text: string): Transcript {
  const whole = check.text(text, "text");
  return JSON.parse(rule((core) => core.parseTranscript(whole))) as Transcript;
}

/**
 * Whether it is time to bring the notes of a session up to date: the conversation has 10,000 tokens, has grown by
 * 5,000 since the last update, and three tools were called since; with `naturalBreak`, in place of the calls also
 * an answer that calls none (facts 8.1).
 */
export function sessionNotesDue(question: NotesDue): boolean {
  const given = check.options(question, "question", NOTES_DUE);
  const tokens = check.size(given["tokens"], "tokens");
  const lastTokens = check.optionalSize(given["lastTokens"], "lastTokens");
  const toolCalls = check.size(given["toolCalls"], "toolCalls");
  const naturalBreak = check.optionalFlag(given["naturalBreak"], "naturalBreak") ?? false;
  const lastTurnCalls = check.optionalFlag(given["lastTurnCalls"], "lastTurnCalls") ?? false;
  return rule((core) => core.sessionNotesDue(tokens, lastTokens, toolCalls, naturalBreak, lastTurnCalls));
}

/**
 * How long notes are and which of their sections are too long (facts 8.3). Sections begin at headings of the
 * first level outside code.
 */
export function measureNotes(text: string): NotesMeasure {
  const whole = check.text(text, "text");
  return rule((core) => core.measureNotes(whole));
}

/**
 * Whether nothing was noted yet (facts 8.4): every line is blank, a heading of the first level, a line in italics,
 * or a line of the template.
 */
export function notesAreEmpty(text: string, template: string): boolean {
  const whole = check.text(text, "text");
  const before = check.text(template, "template");
  return rule((core) => core.notesAreEmpty(whole, before));
}

/** How many tokens a text takes, estimated without a tokenizer. */
export function estimateTokens(text: string): number {
  const whole = check.text(text, "text");
  return rule((core) => core.estimateTokens(whole));
}

/**
 * Puts notes in place of the messages that they cover (facts 8.4). What came after the last message that they
 * cover is kept, and so many messages before it that there are 10,000 tokens and five messages with text, but none
 * more once there are 40,000 tokens. A result of a tool is kept with its call, and the parts of one answer are
 * kept together, with the results between them. Throws `invalid-argument` for what is no message.
 */
export function compactionCut(question: CompactionQuestion): Compaction {
  const given = check.options(question, "question", COMPACTION);
  const messages = check.items(given["messages"], "messages");
  const lastSummarised = check.optionalText(given["lastSummarised"], "lastSummarised");
  const notes = check.optionalText(given["notes"], "notes");
  const template = check.text(given["template"], "template");
  const boundary = check.optionalCount(given["boundary"], "boundary");
  return rule((core) => core.compactionCut(messages, lastSummarised, notes, template, boundary));
}

/**
 * Puts the values in place of words in double braces. Other words stay as they are, and what is put in is not
 * looked at again.
 */
export function fillTemplate(text: string, values: TemplateValues): string {
  const whole = check.text(text, "text");
  const { currentNotes, notesPath } = check.options(values, "values", ["currentNotes", "notesPath"]);
  const notes = check.text(currentNotes, "values.currentNotes");
  const path = check.text(notesPath, "values.notesPath");
  return rule((core) => core.fillTemplate(whole, notes, path));
}

/**
 * Why it is not the time to dream; null when it is (facts 7.1). A time that lies ahead says nothing, as the clock
 * was set back since.
 */
export function decideDream(gate: DreamGate): Awake | null {
  const { dream, enabled, remote, dailyLog, nowMs, lastMs, countedMs, sessions } = check.dreamGate(gate, "gate");
  return rule((core) => core.decideDream(dream, enabled, remote, dailyLog, nowMs, lastMs, countedMs, sessions));
}

/**
 * Whether another dream is under way: the file is younger than an hour, names a process, and that lives. Where
 * nobody can tell, it is held to live. An older file is free even so, as the number may be another process's by
 * now; one that lies as far ahead is as strange (facts 7.2).
 */
export function lockIsHeld(look: LockLook): boolean {
  const given = check.options(look, "look", ["nowMs", "mtimeMs", "body", "alive"]);
  const nowMs = check.time(given["nowMs"], "nowMs");
  const mtimeMs = check.time(given["mtimeMs"], "mtimeMs");
  const body = check.text(given["body"], "body");
  const alive = check.optionalFlag(given["alive"] ?? undefined, "alive");
  return rule((core) => core.lockIsHeld(nowMs, mtimeMs, body, alive));
}

/**
 * What a file of instructions says (facts 10.3, 10.4): its text without front matter and without the HTML comments that
 * stand by themselves, what it imports, and which files it is about. An import is `@` and a path, in prose only: Markdown
 * decides what is code. What cannot be read stays as text, and is named in `problems`.
 */
export function parseInstructions(text: string): ParsedInstructions {
  const whole = check.text(text, "text");
  return rule((core) => core.parseInstructions(whole));
}

/**
 * Where an import leads: `~/` to `home`, everything else that is not absolute to the folder of `file`, the absolute path
 * of the file that imports. Null where that is nowhere: without a home directory, and for the network and device paths
 * of Windows (facts 10.3).
 */
export function resolveImport(
  target: string,
  file: string,
  options: { platform: Platform; home?: string | null | undefined },
): ResolvedImport | null {
  const whole = check.text(target, "target");
  const from = check.text(file, "file");
  const given = check.options(options, "options", ["platform", "home"]);
  const platform = check.text(given["platform"], "platform");
  const home = check.optionalText(given["home"], "home");
  return rule((core) => core.resolveImport(whole, from, home, platform));
}

/**
 * Whether a rule with these patterns is about a file. They are those of a `.gitignore`, with braces: the last one that
 * matches decides, and `!` takes back. `path` is relative to the folder that the rule belongs to, with `/`. What is over
 * 1,000 patterns or 4 MiB once braces are expanded matches nothing, nor does a pattern that is broken (facts 10.4).
 */
export function ruleApplies(patterns: readonly string[], path: string): boolean {
  const globs = check.texts(patterns, "patterns");
  const file = check.text(path, "path");
  return rule((core) => core.ruleApplies(globs, file));
}

/** Every place where instructions are looked for, in the order in which they are loaded, each path once (facts 10.1). */
export function instructionPlaces(question: PlacesQuestion): InstructionPlace[] {
  const given = check.options(question, "question", PLACES);
  const text = (name: string) => check.optionalText(given[name], name);
  const texts = (name: string) => check.texts(given[name] ?? [], name);
  const platform = check.text(given["platform"], "platform");
  const [cwd, configHome, checkout, canonical] = [text("cwd"), text("configHome"), text("checkout"), text("canonical")];
  const [managed, additional] = [texts("managed"), texts("additional")];
  const agentsMd = check.optionalFlag(given["agentsMd"], "agentsMd") ?? false;
  const [user, project, local] = [
    check.flag(given["user"], "user"),
    check.flag(given["project"], "project"),
    check.flag(given["local"], "local"),
  ];
  return rule((core) =>
    core.instructionPlaces(
      platform,
      cwd,
      configHome,
      managed,
      checkout,
      canonical,
      additional,
      agentsMd,
      user,
      project,
      local,
    ),
  );
}

/**
 * Whether a file of instructions is excluded: a pattern matches one of its absolute paths, as it was found and with links
 * resolved, as a whole (facts 10.4). Case counts, but not on Windows.
 */
export function instructionsExcluded(
  patterns: readonly string[],
  paths: readonly string[],
  options: { platform: Platform },
): boolean {
  const globs = check.texts(patterns, "patterns");
  const files = check.texts(paths, "paths");
  const platform = check.text(check.options(options, "options", ["platform"])["platform"], "platform");
  return rule((core) => core.instructionsExcluded(globs, files, platform));
}

/**
 * Takes a model's shell command apart, if it does nothing but read: the programs of its pipe, in order, for
 * whoever runs them without a shell and looks at their paths first (facts 6.3).
 *
 * Throws the first `shell-…` code that holds: of the whole command, then of its characters in order, then of
 * its programs in order. The message is meant for the model.
 */
export function readOnlyCommand(command: string): ShellStage[] {
  const whole = check.text(command, "command");
  return rule((core) => core.readOnlyCommand(whole));
}

/** Every error code with its family and an example, in a fixed order. */
export function errorTable(): ErrorInfo[] {
  return rule((core) => core.errorTable());
}

/** What an index is to say of a memory; nothing at all for no entry. */
function indexEntry(value: unknown): { name?: string; description?: string | undefined } {
  if (value === null) {
    return {};
  }
  const { name, description } = check.optionalTexts(value, "entry", ["name", "description"]);
  return { name: check.text(name, "entry.name"), description };
}

const PLACES = [
  "platform",
  "cwd",
  "configHome",
  "managed",
  "checkout",
  "canonical",
  "additional",
  "agentsMd",
  "user",
  "project",
  "local",
] as const;
const NOTES_DUE = ["tokens", "lastTokens", "toolCalls", "naturalBreak", "lastTurnCalls"] as const;
const COMPACTION = ["messages", "lastSummarised", "notes", "template", "boundary"] as const;

/** Where settings come from. */
const SOURCES = ["policy", "flag", "local", "project", "user"] as const;

function rule<T>(work: (core: Core) => T): T {
  const instance = core();
  return call(instance, () => work(instance));
}
