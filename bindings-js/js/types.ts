// What goes in and what comes out, as the core declares it. Times are whole milliseconds since the
// epoch, sizes are UTF-8 bytes, paths inside a store are relative and written with `/`, and what is
// absent is null. "facts" in the comments is the collection of public facts about the format.

/** The four types of memory; anything else counts as no type (facts 4.2). */
export type MemoryType = "user" | "feedback" | "project" | "reference";

/** Who sees a memory, by its place: below `team/` or not (facts 11.1). */
export type Scope = "private" | "team";

/** Whose path rules hold. */
export type Platform = "posix" | "windows";

/** One memory as a scan lists it, without its body (facts 4.4). */
export interface MemoryHeader {
  /** Relative to the store, with `/`. */
  path: string;
  /** From the frontmatter. */
  name: string | null;
  /** From the frontmatter. */
  description: string | null;
  /** From the frontmatter, when it is one of the four. */
  type: MemoryType | null;
  /** By the place of the file. */
  scope: Scope;
  /** From the frontmatter. */
  pinned: boolean;
  /** The frontmatter's `modified`, in milliseconds since the epoch. */
  modifiedMs: number | null;
  /** The file's modification time, in milliseconds since the epoch. */
  mtimeMs: number;
  /** The file's size in bytes. */
  size: number;
}

/** What kind of thing a report or a finding says. */
export type ReportCode =
  | "over-limit"
  | "unlistable"
  | "listing-incomplete"
  | "too-deep"
  | "invalid-name"
  | "unreadable"
  | "vanished"
  | "not-a-file"
  | "link-outside"
  | "link-dangling"
  | "link-loop"
  | "link-to-folder"
  | "not-utf8"
  | "nul-byte"
  | "empty"
  | "large"
  | "frontmatter-unclosed"
  | "frontmatter-repaired"
  | "frontmatter-invalid"
  | "frontmatter-not-a-map"
  | "second-frontmatter"
  | "unknown-type"
  | "bad-modified"
  | "value-cut"
  | "value-ignored"
  | "disabled"
  | "settings-unreadable"
  | "settings-invalid"
  | "settings-wrong-type"
  | "directory-refused"
  | "slug-collision"
  | "index-over-limit"
  | "index-near-limit"
  | "index-frontmatter"
  | "index-line-too-long"
  | "index-line-long"
  | "index-link-broken"
  | "index-duplicate"
  | "not-indexed"
  | "frontmatter-missing"
  | "name-missing"
  | "description-missing"
  | "type-missing"
  | "duplicate-name"
  | "query-empty"
  | "query-cut"
  | "limit-lowered"
  | "model-failed"
  | "model-answer-cut"
  | "model-skipped"
  | "content-cut"
  | "session-budget"
  | "uses-unreadable"
  | "secret-found"
  | "team-link"
  | "team-too-large"
  | "team-key"
  | "team-checksum"
  | "team-conflict"
  | "team-private"
  | "team-over-limit"
  | "team-not-sent"
  | "team-keeps-copy"
  | "tools-added"
  | "messages-left-out"
  | "inbox-waiting"
  | "inbox-damaged"
  | "broken-line"
  | "line-too-long"
  | "not-a-transcript"
  | "kept"
  | "comment-unclosed"
  | "paths-ignored"
  | "import-missing"
  | "import-too-deep"
  | "imports-over-limit"
  | "pattern-useless"
  | "not-text-type"
  | "needs-approval"
  | "excluded"
  | "already-loaded"
  | "not-a-folder"
  | "nested-worktree"
  | "too-large"
  | "hidden-characters"
  | "instructions-large";

/** One thing that was skipped, cut or repaired. */
export interface ReportEntry {
  /** Relative to the store, with `/`; empty for the store itself. */
  path: string;
  /** What kind of thing. */
  code: ReportCode;
  /** One line: what, and what to do. */
  message: string;
}

/** What a scan found (facts 4.4). */
export interface Scan {
  /** Newest first by modification time, at equal times by path; at most 200. */
  memories: MemoryHeader[];
  /** Every file that is not as it should be, by path. */
  report: ReportEntry[];
}

/** One memory with its text. */
export interface MemoryFile {
  /** What a scan says of it. */
  header: MemoryHeader;
  /** The whole text as it stands in the file, frontmatter included. */
  content: string;
  /** The text below the frontmatter, without line ends around it: what {@link SaveOptions.body} takes. */
  body: string;
  /**
   * `sha256:` and lower-case hex of the file: what {@link SaveOptions.expect} and
   * {@link ForgetOptions.expect} take.
   */
  hash: string;
}

/**
 * What is to be saved. A new memory needs a type and a name; of one that is there already, what is
 * left out or null stays.
 */
export interface SaveOptions {
  /** One of the four. */
  type?: MemoryType | null | undefined;
  /** A few words; not empty. */
  name?: string | null | undefined;
  /** One line that says when the memory helps. */
  description?: string | null | undefined;
  /** Markdown, without frontmatter. Line ends at its beginning and end do not count. */
  body?: string | null | undefined;
  /** Where a new memory goes; by its type unless it is given. */
  scope?: Scope | null | undefined;
  /**
   * The file, relative to the store, with `/`, ending in `.md`; it is created or changed. Without it a
   * new file is made and named after type and name.
   */
  path?: string | null | undefined;
  /** `absent`, or the hash of what was read: nothing is written when it is not so (`conflict`). */
  expect?: string | null | undefined;
}

/** What is expected of a memory that is to be forgotten. */
export interface ForgetOptions extends CallOptions {
  /** The hash of what was read: nothing is forgotten when it is not so (`conflict`). */
  expect?: string | null | undefined;
}

/**
 * How a write ended:
 *
 * - `written`: the store is as it was asked for.
 * - `unchanged`: it was so already; nothing was touched.
 * - `conflict`: it is not as it was expected to be; nothing was touched.
 * - `refused`: a rule forbids it; nothing was touched.
 */
export type WriteOutcome = "written" | "unchanged" | "conflict" | "refused";

/** What came of a save, a note in the log, a forgetting, or its undoing. */
export interface WriteResult {
  /** How it ended. */
  outcome: WriteOutcome;
  /** Relative to the store, with `/`; null when it was refused before there was one, or holds a secret. */
  path: string | null;
  /** The same for tools that read files. */
  absolutePath: string | null;
  /** `sha256:` and lower-case hex of the file as it is now; null when there is none. */
  hash: string | null;
  /** Whether the file is new. */
  created: boolean;
  /** Whether an index was changed. */
  indexChanged: boolean;
  /** Why it was refused, or `exists` and the like for a conflict; null otherwise. */
  code: ErrorCode | null;
  /** The same for a person; null otherwise. */
  message: string | null;
  /**
   * What else should be known: an index near or over its limits, a second frontmatter block, the lines
   * of a private memory that look like secrets, a copy that teammates still have.
   */
  report: ReportEntry[];
}

/** What is to change in a memory; what is left out or null stays. */
export interface MemoryChanges {
  /** Trimmed, and not empty. */
  name?: string | null | undefined;
  /** Trimmed. */
  description?: string | null | undefined;
  /** One of the four. */
  type?: MemoryType | null | undefined;
  /** An ISO 8601 date-time; written only where there is frontmatter. */
  modified?: string | null | undefined;
  /** Markdown. Line ends at its beginning and end do not count. */
  body?: string | null | undefined;
}

/** A text as it is to be written. */
export interface Edited {
  /** The whole new text. */
  content: string;
  /** Whether it differs from the old one. */
  changed: boolean;
}

/** What an index says of a memory. */
export interface IndexEntry {
  /** The memory's name. */
  name: string;
  /** Its description; none leaves the hook out. */
  description?: string | null | undefined;
}

/** How bad a finding is: something is lost or misread because of it, or it could be better. */
export type Severity = "error" | "warning";

/** One thing that is wrong with a store. */
export interface Finding {
  /** Relative to the store, with `/`; empty for the store itself. */
  path: string;
  /** Counted from 1, when it is about one line. */
  line: number | null;
  /** What kind of thing. */
  code: ReportCode;
  /** How bad it is. */
  severity: Severity;
  /** What is wrong, in one line. */
  message: string;
  /** What to do about it, in one line. */
  remedy: string;
}

/** What is wrong with a store. */
export interface Lint {
  /** By path, line and code. */
  findings: Finding[];
}

/** One memory as `lintMemories` takes it. */
export interface LintMemory {
  /** Relative to the store, with `/`. */
  path: string;
  /** All of it. */
  text: string;
}

/** A store as `lintMemories` takes it. */
export interface LintInput {
  /** The text of `MEMORY.md`, if there is one. */
  index?: string | null | undefined;
  /** The text of `team/MEMORY.md`, if there is one. */
  teamIndex?: string | null | undefined;
  /** All other memories. */
  memories: readonly LintMemory[];
}

/** What decided whether memory is on, in the order in which it is asked (facts 2). */
export type EnabledBecause =
  | "env-disabled"
  | "env-forced"
  | "simple-mode"
  | "safe-mode"
  | "remote-without-folder"
  | "settings-policy"
  | "settings-flag"
  | "settings-local"
  | "settings-project"
  | "settings-user"
  | "default";

/** Whether memory is on, and what decided it. */
export interface Enabled {
  /** Off means: nothing read, written, created or called. */
  enabled: boolean;
  /** What decided. */
  because: EnabledBecause;
}

/**
 * What can name a memory directory (facts 1.2, 9); `option` is the `directory` passed to `open`, `agent`
 * the agent whose memory it is.
 */
export type Source =
  | "option"
  | "agent"
  | "env"
  | "settings-policy"
  | "settings-flag"
  | "settings-local"
  | "settings-project"
  | "settings-user"
  | "env-project-dir-name"
  | "default";

/** Something that named a directory and was not followed. */
export interface Refused {
  /** Where it stands. */
  source: Source;
  /** Why not. */
  code: ErrorCode;
}

/** Where a store is, and why there. */
export interface Choice {
  /** Absolute, normalised, with one trailing separator. */
  directory: string;
  /** What named it. */
  chosenBy: Source;
  /** The project's folder name, when the default place was taken. */
  projectKey: string | null;
  /** What would have come first and was not acceptable. */
  refused: Refused[];
}

/** Whether memory is on, per place that settings come from. */
export interface EnabledSettings {
  /** Managed settings of the machine. */
  policy?: boolean | null | undefined;
  /** Passed to `open`. */
  flag?: boolean | null | undefined;
  /** `.claude/settings.local.json`. */
  local?: boolean | null | undefined;
  /** `.claude/settings.json`, which comes with the repository. */
  project?: boolean | null | undefined;
  /** The user's `settings.json`. */
  user?: boolean | null | undefined;
}

/** The memory directory, per place that settings come from. */
export interface DirectorySettings {
  /** Managed settings of the machine. */
  policy?: string | null | undefined;
  /** Passed to `open`. */
  flag?: string | null | undefined;
  /** `.claude/settings.local.json`. */
  local?: string | null | undefined;
  /** `.claude/settings.json`, which comes with the repository. */
  project?: string | null | undefined;
  /** The user's `settings.json`. */
  user?: string | null | undefined;
}

/** What the choice of a directory depends on. */
export interface DirectoryQuestion {
  /** Whose path rules hold. */
  platform: Platform;
  /** The user's home directory; one that is not absolute counts as none. */
  home?: string | null | undefined;
  /** The process environment; a variable that is undefined is not set. */
  env: Record<string, string | undefined>;
  /** `autoMemoryDirectory` per settings file. */
  settings: DirectorySettings;
  /** The root of the project: its git root, or where the agent was started. */
  projectRoot: string;
}

/** What can be wrong with a settings file. */
export type SettingsProblemCode = "not-json" | "not-an-object" | "wrong-type";

/** One thing that is wrong with a settings file. */
export interface SettingsProblem {
  /** What kind of thing. */
  code: SettingsProblemCode;
  /** The key that it is about, if it is about one. */
  key: string | null;
}

/** What one settings file says about memory. */
export interface Settings {
  /** Whether memory is on. */
  autoMemoryEnabled: boolean | null;
  /** Where the store is. */
  autoMemoryDirectory: string | null;
  /** Whether it dreams by itself; when nothing says so, {@link Features.dream} decides. */
  autoDreamEnabled: boolean | null;
  /** What is wrong with the file; the rest of it still counts. */
  problems: SettingsProblem[];
}

/** The age of a memory (facts 5.5). */
export interface Age {
  /** Whole days, never negative. */
  days: number;
  /** `today`, `yesterday`, `3 days ago`. */
  text: string;
  /** What to keep in mind when using it; null while it is fresh (today and yesterday). */
  warning: string | null;
}

/**
 * Who shares an agent's memory (facts 9): all projects of this user, everybody who works on the project
 * (it is kept with its files), or this project on this machine alone.
 */
export type AgentScope = "user" | "project" | "local";

/** Whose memory is opened. */
export interface AgentOptions {
  /** The agent's name, in any script; every name has a folder of its own. */
  name: string;
  /** Who shares it. */
  scope: AgentScope;
}

/**
 * Where memories are on this machine, for one project: what tells paths and calls of tools that concern
 * memory from others. The folders are absolute.
 */
export interface MemoryPlaces {
  /** Whose path rules hold. */
  platform: Platform;
  /** The store; null when memory is off, and for the memory of an agent. */
  store: string | null;
  /** Where sessions are kept; null when there is no home directory. */
  configHome: string | null;
  /** The folders that hold agents' memories. */
  agents: string[];
  /** Whether `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE` has named the store. */
  overridden: boolean;
}

/**
 * What a path is to memory (facts 12): a team memory, a private one, one of an agent's, notes of a
 * session, what was said in a session, or none of these.
 */
export type PathKind = "team" | "auto" | "agent" | "session-memory" | "session-transcript" | "none";

/**
 * What a tool does with a memory: it reads a file, creates or changes one, looks through a folder, runs a
 * command that names it, or nothing that concerns memory.
 */
export type ToolAction = "read" | "write" | "search" | "run" | "none";

/** What a call of a tool has to do with memory. */
export interface ToolClass {
  /** What its path is. */
  kind: PathKind;
  /** What is done with it. */
  action: ToolAction;
  /** The path that decided, as it was given; null when nothing concerns memory. */
  path: string | null;
}

/** A secret in a text: where it is and of which kind, never what it is. */
export interface SecretFinding {
  /** Which rule found it, such as `github-pat`. */
  rule: string;
  /** What it is, for people. */
  label: string;
  /** The line that it begins in, from 1. */
  line: number;
  /** Where it begins, in bytes of the UTF-8 text (not in UTF-16 units, as strings are indexed). */
  start: number;
  /** Where it ends, in the same bytes: the first one after it. */
  end: number;
}

/** What opening a store found. */
export interface Opened {
  /** The memory folder: absolute, normalised, with one trailing separator. */
  directory: string;
  /** Whether memory is on. When it is off, nothing is read, written or created. */
  enabled: boolean;
  /** What decided whether it is on. */
  because: EnabledBecause;
  /** What named the directory. */
  chosenBy: Source;
  /** The settings file that did, if one did. */
  chosenFile: string | null;
  /** The project's folder name, when the default place was taken. */
  projectKey: string | null;
  /** The root of the project; null when a directory was given. */
  projectRoot: string | null;
  /** What named a directory and was not followed. */
  refused: Refused[];
  /** Where memories are: what `classifyPath` and the like take. */
  places: MemoryPlaces;
  /** What was wrong on the way: settings files that cannot be read, a colliding slug. */
  report: ReportEntry[];
}

/** The index as far as it fits into a prompt (facts 3). */
export interface Truncation {
  /** A prefix of the trimmed text, at most 200 lines and 25,000 UTF-8 bytes. */
  content: string;
  /** One line that says what was exceeded; null when nothing was. */
  warning: string | null;
  /** Lines of the trimmed text, 0 when it is empty. */
  lines: number;
  /** UTF-8 bytes of the trimmed text. */
  bytes: number;
  /** Whether the trimmed text has more lines than the limit. */
  linesCut: boolean;
  /** Whether the trimmed text has more bytes than the limit. */
  bytesCut: boolean;
  /** The entries that are not wholly in `content`: their link targets, else their text. */
  lost: string[];
}

/** One thing that is wrong with a frontmatter block. */
export interface Problem {
  /** What kind of thing. */
  code: ReportCode;
  /** Line of the file, counted from 1, when it is about one. */
  line: number | null;
  /** One line: what, and what to do. */
  message: string;
}

/** What the block at the head of a memory says (facts 4.1 to 4.3). */
export interface Frontmatter {
  /** Whether the text begins with a closed block. */
  found: boolean;
  /** Trimmed; null when missing, empty or no text. */
  name: string | null;
  /** Trimmed; null when missing, empty or no text. */
  description: string | null;
  /** `type`, else `metadata.type`, when it is exactly one of the four. */
  type: MemoryType | null;
  /** `modified`, else `metadata.modified`, as written. */
  modified: string | null;
  /** The same in milliseconds since the epoch, when it is an ISO 8601 date-time. */
  modifiedMs: number | null;
  /** `pinned`, else `metadata.pinned`, when it is YAML's true. */
  pinned: boolean;
  /** Where the body begins, in UTF-8 bytes of the text. */
  body: number;
  /** What was cut, repaired or given up. */
  problems: Problem[];
}

/** Why an operation failed; stable. `errorTable()` has an example of each. */
export type ErrorCode =
  | "aborted"
  | "protocol"
  | "internal"
  | "invalid-text"
  | "invalid-argument"
  | "usage"
  | "disabled"
  | "closed"
  | "frontmatter-invalid"
  | "user-private"
  | "secret-found"
  | "not-text"
  | "shell-assignment"
  | "shell-background"
  | "shell-comment"
  | "shell-control"
  | "shell-empty"
  | "shell-expansion"
  | "shell-flag"
  | "shell-glob"
  | "shell-operand"
  | "shell-quote"
  | "shell-redirection"
  | "shell-separator"
  | "shell-stdin"
  | "shell-subshell"
  | "shell-substitution"
  | "shell-too-long"
  | "shell-unknown-program"
  | "path-empty"
  | "path-nul"
  | "path-home"
  | "path-home-parent"
  | "path-outside-home"
  | "path-unc"
  | "path-drive-root"
  | "path-relative"
  | "path-root"
  | "path-too-short"
  | "path-outside-store"
  | "key-too-long"
  | "key-encoded"
  | "key-lookalike"
  | "key-separator"
  | "key-absolute"
  | "key-traversal"
  | "key-character"
  | "key-normal-form"
  | "key-ending"
  | "key-reserved"
  | "key-own"
  | "key-twin"
  | "no-home"
  | "not-trusted"
  | "needs-config-dir"
  | "link-outside"
  | "not-found"
  | "exists"
  | "permission"
  | "read-only"
  | "no-space"
  | "not-a-directory"
  | "is-a-directory"
  | "not-empty"
  | "loop"
  | "name-too-long"
  | "invalid-name"
  | "too-large"
  | "too-many-open"
  | "cross-device"
  | "busy"
  | "unsupported"
  | "timeout"
  | "network"
  | "no-model"
  | "model-auth"
  | "model-not-found"
  | "model-busy"
  | "model-refused"
  | "model-answer"
  | "no-server"
  | "no-token"
  | "no-repository"
  | "team-auth"
  | "team-busy"
  | "team-refused"
  | "team-answer"
  | "team-conflict"
  | "other";

/**
 * Which group a code belongs to: `engine` is how the operation was driven (cancelled, a defect),
 * `input` what the caller passed in, `path` a path that a rule refuses, `host` what the operating
 * system or the network answered, `model` what a language model or its provider answered, `team` what
 * the team's server answered, or what is missing to ask it.
 */
export type ErrorFamily = "engine" | "input" | "path" | "host" | "model" | "team";

/** One row of `errorTable()`. */
export interface ErrorInfo {
  /** The code. */
  code: ErrorCode;
  /** Its group. */
  family: ErrorFamily;
  /** A typical message. */
  example: string;
}

/** Something worth knowing that happened while an operation ran. */
export interface MemdirEvent {
  /**
   * What kind of event: `warning`; `team-sync` for what a sync of {@link Team.watch} has done, whose
   * message is the counts; `extract-memories` when {@link Memdir.extract} begins a turn of its model, or has
   * changed memories; `session-notes` when an update of notes begins a turn; `dream` when {@link Memdir.dream} begins
   * one, is at a file (with the code `updating`), tells what its model says in a turn (with the code `said`), or has
   * changed memories; `instructions` for each file of instructions that is loaded for the first time, or has changed
   * since.
   */
  kind: string;
  /** Relative to the store, when it is about one file; absolute in `instructions`. */
  path: string | null;
  /**
   * A {@link ReportCode} when it is about something cut or skipped. In `instructions` why the file was loaded (facts
   * 10.4): `session-start` or, once after {@link Memdir.compacted}, `compact`; `include` for what another one
   * imports; `path-glob-match` for a rule about a file that is touched, `nested-traversal` for what the folders
   * on the way to it have. In `dream` `updating` or `said`, or null.
   */
  code: string | null;
  /** One line in plain words. */
  message: string;
}

/** Whose a message is. */
export type Role = "user" | "assistant";

/** One message of what a model is asked. */
export interface ModelMessage {
  /** Whose it is. */
  role: Role;
  /** Its text. */
  content: string;
}

/** What a model is asked once. */
export interface ModelRequest {
  /** What it is for; today only `select-memories`. */
  purpose: string;
  /** The system prompt. */
  system: string;
  /** The conversation, ending with the user's turn. */
  messages: ModelMessage[];
  /** Of the answer, in the model's tokens. */
  maxTokens: number;
  /** The JSON schema of the answer; null for free text. */
  schema: Record<string, unknown> | null;
}

/**
 * What your own function is asked in an extraction, one turn of a conversation with tools. The last answer is
 * a text. One that calls tools is the JSON text of a message in the form of Anthropic's Messages API: an
 * object with a list `content` of blocks, and `usage` where it is known.
 */
export type ModelToolRequest = {
  /** What it is for: `extract-memories`. */
  purpose: string;
  /** The system prompt; with a prefix it is not used, as that has its own. */
  system: string;
  /** {@link ExtractOptions.request}, behind whose messages these come; null without one. */
  prefix: Record<string, unknown> | null;
  /** The tools; with a prefix those that are to be put behind its own. */
  tools: ToolDefinition[];
  /** The conversation so far in the form of Anthropic's Messages API, beginning with a user's turn. */
  messages: { role: Role; content: Block[] }[];
  /** Of the answer, in the model's tokens. */
  maxTokens: number;
  /** Only what is asked once has one. */
  schema?: undefined;
};

/**
 * Your own model: gives the text of its answer, JSON when the request has a schema. For
 * {@link Memdir.extract} it is asked a {@link ModelToolRequest}, which has `tools`. `signal` is aborted when
 * the operation is cancelled or the model takes too long; what it gives after that is ignored. It may use the
 * store that calls it.
 */
// A method, so that a function for recalls alone need not take the other kind of request.
export type ModelFunction = {
  ask(request: ModelRequest | ModelToolRequest, options: { signal: AbortSignal }): string | Promise<string>;
}["ask"];

/** A tool that a model may call. */
export interface ToolDefinition {
  /** What the model calls it by. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** The JSON schema of its input. */
  inputSchema: Record<string, unknown>;
}

/** What a call of a tool gave. */
export interface CallResult {
  /** That of the call. */
  id: string;
  /** That of the tool. */
  name: string;
  /** For the model. */
  content: string;
  /** Whether it failed. Not every provider is told so: the content says it too. */
  isError: boolean;
}

/** An answer of the model, and what its calls gave. */
export interface ToolTurn {
  /** {@link ToolAnswer.answer}. */
  answer: string;
  /** One for each call, in their order. */
  results: CallResult[];
}

/** What a model with tools is asked next. */
export interface ToolRequest {
  /** What it is for, such as `extract-memories`. */
  purpose: string;
  /**
   * The request that another conversation would send next, as JSON text in the provider's own form: an object
   * with a list `messages`, and `system`, `tools`, `thinking` or whatever else it has. This conversation goes
   * on behind its messages. Null for one that stands alone.
   */
  prefix: string | null;
  /** The system prompt; with a prefix it is not used, as that has its own. */
  system: string;
  /**
   * The tools. With a prefix, those that are to be put behind its own, which moves everything out of the
   * cache: none when its own will do. One whose name is there already (ASCII case aside) is left out.
   */
  tools: ToolDefinition[];
  /** The user's turn that this conversation begins with. */
  prompt: string;
  /** What came since. */
  turns: ToolTurn[];
  /** Of the next answer; thinking that a prefix has a budget for is not counted. */
  maxTokens: number;
}

/** A call of a tool. */
export interface ToolCall {
  /** What its result names. */
  id: string;
  /** The tool, maybe one that does not exist. */
  name: string;
  /** JSON text as the model wrote it, so maybe broken or no object. */
  input: string;
}

/** Tokens that answers cost. What a provider did not say is 0. */
export interface Usage {
  /** Read, without those of the cache. */
  input: number;
  /** Written by the model. */
  output: number;
  /** Read from the prompt cache. */
  cached: number;
  /** Put into the prompt cache; read, but not among `input`. */
  written: number;
}

/** What a model with tools answered. Neither text nor calls: it has nothing to say. */
export interface ToolAnswer {
  /** What it said, maybe nothing. */
  text: string;
  /** What it wants to be done; without any it is done. */
  calls: ToolCall[];
  /**
   * The answer as a message of the conversation, JSON text to send back as it is: thinking in it is signed.
   */
  answer: string;
  /** What it cost. */
  usage: Usage;
  /** Whether it ended because there was no room for more, so that its last call may be incomplete. */
  isCut: boolean;
}

/**
 * A part of a message, in the form of Anthropic's Messages API. Other members, and blocks of other types, say
 * nothing to memory.
 */
export type Block =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input?: unknown }
  | { type: "tool_result"; tool_use_id: string; content?: unknown; is_error?: boolean | undefined }
  | { type: string }
  | { type: string; [member: string]: unknown };

/** One message between an agent and its model. Members that are not named here do no harm. */
export interface Message {
  /**
   * What it is recognised by, also after a compaction; one without is recognised by what it says.
   */
  id?: string | null | undefined;
  /** Whose it is. */
  role: Role;
  /** What it says: a text, or blocks, of which `text`, `tool_use` and `tool_result` matter. */
  content: string | readonly Block[];
  /** Whether the agent's program wrote it instead of a person or a model. */
  isMeta?: boolean | undefined;
  /** How many tokens it takes, where that is known. */
  tokens?: number | null | undefined;
}

/** The end of a conversation. */
export interface Transcript {
  /** The newest messages, oldest first. */
  messages: Message[];
  /** How many older ones there were. */
  leftOut: number;
  /** What could not be read, one entry for each kind. */
  report: ReportEntry[];
}

/** Whose a conversation is: that of the user's own agent, or that of one which another one has started. */
export type AgentRole = "main" | "sub";

/** How far the extractions of a conversation have come: plain data. */
export interface ExtractionState {
  /** The last message that was looked at. */
  cursor: string | null;
  /** Turns since then that were left out because of {@link Features.extractEvery}. */
  turns: number;
}

/** What decides besides the messages whether it is time for an extraction. */
export interface ExtractionGate {
  /** Whose conversation it is. */
  agent: AgentRole;
  /** Whether a person takes part. */
  interactive: boolean;
  /** Whether it runs on somebody else's machine. */
  remote: boolean;
  /** {@link Features.extract}. */
  extract: boolean;
  /** {@link Features.extractNonInteractive}. */
  extractNonInteractive: boolean;
  /** {@link Features.extractEvery}: 1 for every turn. */
  every: number;
  /** Whether an extraction of this conversation is under way. */
  running: boolean;
  /** Whether one has just ended, and this is what came meanwhile. */
  trailing: boolean;
  /** Where memories are; null when memory is off. */
  places: MemoryPlaces | null;
}

/**
 * What is to be done at the end of a turn: an extraction (`run`), keeping the messages until the one under way
 * is done (`queue`), or nothing (`skip`).
 */
export type Verdict = "run" | "queue" | "skip";

/**
 * Why there is nothing to be done, in the order in which it is looked at:
 *
 * - `sub-agent`: it is not the main agent's conversation.
 * - `off`: {@link Features.extract} is off.
 * - `disabled`: memory is off.
 * - `not-interactive`: nobody takes part, and {@link Features.extractNonInteractive} is off.
 * - `remote`: it runs on somebody else's machine.
 * - `not-final`: the last message is no final answer; the agent is in the middle of something.
 * - `nothing-new`: no message has come since the last one.
 * - `direct-write`: the agent has written memories itself, so what was to be kept is kept.
 * - `too-little`: no person has written as much as three words.
 * - `throttled`: it is not yet the turn of {@link Features.extractEvery}.
 * - `paused`: the model's provider had no more to give a moment ago.
 */
export type Skip =
  | "sub-agent"
  | "off"
  | "disabled"
  | "not-interactive"
  | "remote"
  | "not-final"
  | "nothing-new"
  | "direct-write"
  | "too-little"
  | "throttled"
  | "paused";

/** What is to be done at the end of a turn, and why. */
export interface ExtractionDecision {
  /** What is to be done. */
  verdict: Verdict;
  /** Why nothing is; null otherwise. */
  reason: Skip | null;
  /** How far the extractions have come now. One that runs moves the cursor when it has succeeded. */
  state: ExtractionState;
  /** How many messages are new, of users and assistants. */
  newMessages: number;
  /** The last message, where the cursor goes. */
  last: string | null;
}

/** How an extraction is asked for. */
export interface ExtractOptions extends CallOptions {
  /** Whose conversation it is, `main` unless it is given; only the main agent's is looked at. */
  agent?: AgentRole | undefined;
  /**
   * Whether a person takes part in it, true unless it is given. Without one
   * {@link Features.extractNonInteractive} is needed.
   */
  interactive?: boolean | undefined;
  /**
   * Whether it runs on somebody else's machine, false unless it is given; so it is too when
   * `CLAUDE_CODE_REMOTE` is set.
   */
  remote?: boolean | undefined;
  /** Which conversation it is, where a store has several at once. Each has its own state. */
  session?: string | undefined;
  /**
   * What the last extraction of this conversation gave, after a restart. A store that knows better does not
   * look at it.
   */
  state?: ExtractionState | null | undefined;
  /**
   * The request that the conversation would be continued with, in the provider's own form: an object with
   * `messages`, and `system` and `tools` where there are any, or its JSON text. With it the run goes on with
   * the conversation, and the provider's prompt cache is used. Without it the model is shown the new messages
   * only.
   */
  request?: object | string | null | undefined;
  /** Folders besides the working directory and the store that may be read in, absolute. */
  readRoots?: readonly string[] | undefined;
  /** Whether changes wait until somebody applies them, see {@link Memdir.inbox}; false unless it is given. */
  review?: boolean | undefined;
  /** Makes the runs with your own agent instead of the store's model. */
  run?: ExtractionRunner | undefined;
}

/**
 * What became of an extraction:
 *
 * - `done`: a model has looked at the new messages; it may have written nothing.
 * - `skipped`: there was nothing to be done; `reason` says why.
 * - `queued`: another one of the same conversation is under way, and goes on with these messages afterwards.
 * - `failed`: it did not come to its end; the same messages are looked at again the next time.
 */
export type ExtractionOutcome = "done" | "skipped" | "queued" | "failed";

/**
 * How a run ended: the model had nothing more to do (`answered`), had all its `turns`, or had used up its
 * `tokens`; or it was `stopped`, because nobody waited for it. Memories that an extraction and notes that an update had
 * written by then stay; of a dream nothing takes effect.
 */
export type RunEnd = "answered" | "turns" | "tokens" | "stopped";

/** What became of an extraction (facts 6). */
export interface Extraction {
  /** What became of it. */
  outcome: ExtractionOutcome;
  /** Why it was skipped; null otherwise. */
  reason: Skip | null;
  /** The memories that were written, relative to the store, without indexes. */
  paths: string[];
  /** Those that were removed. */
  removed: string[];
  /** What a user is told, `Memory updated in …`; null when nothing was changed. */
  notice: string | null;
  /** The proposals in which the changes wait, of runs that are reviewed. */
  inbox: string[];
  /** How many turns the model took. */
  turns: number;
  /** How the run ended; null when there was none. */
  ended: RunEnd | null;
  /** The tokens that it took. */
  usage: Usage;
  /** Why it failed; null otherwise. */
  code: ErrorCode | null;
  /** The same for a person; null otherwise. */
  message: string | null;
  /** How far it has come, for {@link ExtractOptions.state}. */
  state: ExtractionState;
  /** What else should be known. */
  report: ReportEntry[];
}

/** A run that your own agent is to make. */
export interface ExtractionTask {
  /** Its number. */
  run: number;
  /** The system prompt for a conversation of its own. */
  system: string;
  /**
   * The user's turn: what is to be done. It is for a fork of the conversation when the extraction was given a
   * `request`, and holds the messages otherwise.
   */
  prompt: string;
  /** The tools that are to be added to those of the conversation. */
  tools: ToolDefinition[];
  /** How many turns the model may take. */
  maxTurns: number;
  /** How many tokens it may take. */
  maxTokens: number;
}

/** What a call of a tool is answered with. */
export interface ToolReply {
  /** For the model. */
  content: string;
  /** Whether the call was denied or failed. */
  isError: boolean;
}

/** What became of a run that your own agent has made. */
export interface RunReport {
  /** Why it failed; nothing when it came to its end. */
  error?: string | null | undefined;
  /** How many turns it took; 0 unless it is given. */
  turns?: number | undefined;
  /** The tokens that it took; none unless they are given. */
  usage?: Usage | undefined;
}

/**
 * Your own agent, for one run of an extraction: continues the conversation with the task's prompt, or begins
 * one with its system prompt, and gives every call of a tool to `call`, which answers also what is denied.
 * `input` is the tool's arguments, or their JSON text. `call` rejects with `not-found` when the run is over.
 * When the function throws, the extraction has `failed`. `signal` is that of the extraction.
 */
export type ExtractionRunner = (
  task: ExtractionTask & {
    call(name: string, input: unknown): Promise<ToolReply>;
    signal?: AbortSignal | undefined;
  },
) => RunReport | void | Promise<RunReport | void>;

/** How a dream is asked for. */
export interface DreamOptions extends CallOptions {
  /**
   * Whether it is done whatever time it is, as when a person asks for it; false unless it is given. One under
   * way elsewhere keeps it from being done all the same.
   */
  force?: boolean | undefined;
  /** Whether nothing is changed, and the result says what would be; false unless it is given. */
  dryRun?: boolean | undefined;
  /** Whether only the daily logs are distilled into memories; false unless it is given. */
  logs?: boolean | undefined;
  /** The session that it is asked in, whose transcript is still being written. */
  session?: string | null | undefined;
  /**
   * Whether it runs on somebody else's machine, false unless it is given; so it is too when
   * `CLAUDE_CODE_REMOTE` is set.
   */
  remote?: boolean | undefined;
  /** Folders besides the working directory, the store and the transcripts that may be read in, absolute. */
  readRoots?: readonly string[] | undefined;
}

/**
 * What became of a dream:
 *
 * - `done`: a model has looked over the memory; it may have changed nothing.
 * - `skipped`: there was nothing to be done; `reason` says why.
 * - `failed`: it did not come to its end, and nothing was changed; the next one does not wait for it. Where `id` is
 *   given the disk failed while it took effect, and again when that was to be taken back.
 */
export type DreamOutcome = "done" | "skipped" | "failed";

/**
 * Why there was nothing to be done, in the order in which it is looked at:
 *
 * - `sub-agent`: it was the turn of another agent than the main one.
 * - `off`: dreaming is off, by the setting `autoDreamEnabled`, or {@link Features.dream} when that says nothing.
 * - `disabled`: memory is off.
 * - `remote`: it runs on somebody else's machine.
 * - `daily-log`: notes go to daily logs, which are distilled when somebody asks for it.
 * - `too-soon`: the last one was less than 24 hours ago.
 * - `counted`: sessions were counted less than 10 minutes ago.
 * - `few-sessions`: fewer than five sessions have been held since.
 * - `locked`: another one is under way.
 * - `closed`: the store was closed before it was its turn, in {@link Memdir.afterTurn}.
 */
export type Awake =
  | "sub-agent"
  | "off"
  | "disabled"
  | "remote"
  | "daily-log"
  | "too-soon"
  | "counted"
  | "few-sessions"
  | "locked"
  | "closed";

/** What became of a dream (facts 7). */
export interface Dream {
  /** What became of it. */
  outcome: DreamOutcome;
  /** Why it was skipped; null otherwise. */
  reason: Awake | null;
  /** What it can be taken back by; null when nothing was changed. */
  id: string | null;
  /** The memories that were changed or made, relative to the store, without indexes. */
  improved: string[];
  /** Those that were removed. */
  removed: string[];
  /**
   * What was to be changed and was not, because somebody else had changed it meanwhile; and removals then, as in a run
   * that its turns or tokens cut, since what goes may stand nowhere else yet.
   */
  conflicts: string[];
  /** What a user is told, `Improved 3 memories`; null when nothing was changed. */
  notice: string | null;
  /** What would be changed, of a dry run. */
  changes: InboxChange[];
  /** How many sessions there were to look at. */
  sessions: number;
  /** How many turns the model took. */
  turns: number;
  /** How the run ended; null when there was none. */
  ended: RunEnd | null;
  /** The tokens that it took. */
  usage: Usage;
  /** Why it failed; null otherwise. */
  code: ErrorCode | null;
  /** The same for a person; null otherwise. */
  message: string | null;
  /** What else should be known. */
  report: ReportEntry[];
}

/** What came of taking a dream back. */
export interface DreamUndone {
  /** Which one; null when there is none to take back. */
  id: string | null;
  /** What is as it was before. */
  restored: string[];
  /** What somebody has changed since, and stays as it is. */
  conflicts: string[];
}

/**
 * What decides on a dream. A caller that has not counted the sessions yet leaves them out, and counts them when
 * the answer is null.
 */
export interface DreamGate {
  /** The setting `autoDreamEnabled`; when nothing says so, {@link Features.dream}. */
  dream: boolean;
  /** Whether memory is on. */
  enabled: boolean;
  /** Whether it runs on somebody else's machine. */
  remote: boolean;
  /** {@link Features.dailyLog}. */
  dailyLog: boolean;
  /** Now, in milliseconds since the epoch. */
  nowMs: number;
  /** When the last one succeeded; null when none has. */
  lastMs?: number | null | undefined;
  /** When this process has counted sessions last; null when it has not. */
  countedMs?: number | null | undefined;
  /** Sessions that were held since the last one, without the current one; null before they are counted. */
  sessions?: number | null | undefined;
}

/** What was seen of the file that says who dreams, `.consolidate-lock` in the store. */
export interface LockLook {
  /** Now, in milliseconds since the epoch. */
  nowMs: number;
  /** Its modification time. */
  mtimeMs: number;
  /** Its text. */
  body: string;
  /** Whether the process lives that the body names; null where that cannot be told. */
  alive?: boolean | null | undefined;
}

/** How far the notes of a session have come: plain data. */
export interface NotesState {
  /**
   * The tokens that the conversation had at the last update, without those of messages that were left to the
   * next one; fewer when it has become shorter since. Null before the first one.
   */
  lastTokens: number | null;
  /**
   * The last message that an update has looked at which came to its end. What comes behind it is shown to the next
   * one, and calls of tools are counted from there.
   */
  cursor: string | null;
  /**
   * The last message of which the notes have what matters, for a compaction: the end of a turn, and not behind
   * `cursor`. Null as long as there is none.
   */
  lastSummarised: string | null;
}

/** How notes are brought up to date. */
export interface NotesOptions extends CallOptions {
  /** Whether it is done now, whatever `sessionNotesDue` of `memdir/rules` says; false unless it is given. */
  force?: boolean | undefined;
  /** Whether the end of a turn counts as much as calls of tools; false unless it is given. */
  naturalBreak?: boolean | undefined;
  /** As {@link ExtractOptions.request}. */
  request?: object | string | null | undefined;
  /**
   * What the last update of this session gave, after a restart. A store that knows better does not look at
   * it.
   */
  state?: NotesState | null | undefined;
}

/**
 * What became of an update of notes:
 *
 * - `done`: a model has looked at what is new. When it has changed nothing, or was at its limits (`ended`), or left
 *   it at a call that was refused, the same messages are looked at again when the conversation has grown.
 * - `skipped`: there was nothing to be done; `reason` says why.
 * - `failed`: it did not come to its end. What was written by then stays, and the same messages are looked at
 *   again the next time.
 */
export type NotesOutcome = "done" | "skipped" | "failed";

/**
 * Why there was nothing to be done:
 *
 * - `disabled`: memory is off.
 * - `nothing-new`: no message has come since the last one.
 * - `not-due`: it is not yet time.
 * - `running`: another one of the same session is under way.
 * - `paused`: the model's provider had no more to give a moment ago.
 * - `closed`: the store was closed before it was their turn, in {@link Memdir.afterTurn}.
 */
export type NotesSkip = "disabled" | "nothing-new" | "not-due" | "running" | "paused" | "closed";

/** How long one section of notes is. */
export interface NotesSection {
  /** Its heading; empty for what stands before the first one. */
  heading: string;
  /** Its tokens, estimated, the heading included. */
  tokens: number;
  /** Whether it is longer than it should be (2,000 tokens). */
  isOver: boolean;
}

/** How long notes are. */
export interface NotesMeasure {
  /** Tokens of the whole, estimated. */
  tokens: number;
  /** Its parts, in their order. */
  sections: NotesSection[];
  /** Whether the whole is longer than it should be (12,000 tokens). */
  isOver: boolean;
}

/** What became of an update of notes (facts 8). */
export interface NotesResult {
  /** What became of it. */
  outcome: NotesOutcome;
  /** Why it was skipped; null otherwise. */
  reason: NotesSkip | null;
  /** The file of the notes, absolute; null when memory is off. */
  path: string | null;
  /** Whether the notes are others than before. */
  changed: boolean;
  /** How many turns the model took. */
  turns: number;
  /** How the run ended; null when there was none. */
  ended: RunEnd | null;
  /** The tokens that it took. */
  usage: Usage;
  /** Why it failed; null otherwise. */
  code: ErrorCode | null;
  /** The same for a person; null otherwise. */
  message: string | null;
  /** The sections that are longer than they should be afterwards; the next update is told to shorten them. */
  overLimit: NotesSection[];
  /** How far it has come, for {@link NotesOptions.state}. */
  state: NotesState;
  /**
   * What else should be known: what looks like a secret, a template that cannot be read, messages that are left
   * to the next update.
   */
  report: ReportEntry[];
}

/** What is asked when a conversation is about to be compacted. */
export interface CompactionOptions extends CallOptions {
  /** As {@link CompactionQuestion.boundary}. */
  boundary?: number | null | undefined;
  /** As {@link NotesOptions.state}. */
  state?: NotesState | null | undefined;
}

/** What decides on a compaction. */
export interface CompactionQuestion {
  /** The conversation. */
  messages: readonly Message[];
  /**
   * The last message of which the notes have what matters; null when that is not known, as in a session that
   * was taken up again without its state. Where several messages have this id, the first counts.
   */
  lastSummarised?: string | null | undefined;
  /** The notes; null when there are none. */
  notes?: string | null | undefined;
  /** What they began as. */
  template: string;
  /**
   * The message that the last compaction has put in place of others, by its index. What is kept reaches back to
   * the one behind it at most; it is kept itself when the notes end before it, as it stands for what they do not
   * cover. Null when there was none, or it need not be heeded; what is no message's index counts as null.
   */
  boundary?: number | null | undefined;
}

/**
 * Why the notes cannot be used, and the conversation is compacted with a summary:
 *
 * - `off`: memory is off, or `DISABLE_CLAUDE_CODE_SM_COMPACT` is set.
 * - `no-notes`: there are none.
 * - `empty-notes`: nothing was written into them yet.
 * - `unreadable`: they cannot be read.
 * - `unknown-message`: which messages they cover is not known, or the last of them is not in the conversation any
 *   more.
 */
export type CompactionReason = "off" | "no-notes" | "empty-notes" | "unreadable" | "unknown-message";

/** What comes in place of the conversation: the notes, and behind them its messages from a place on. */
export interface Compaction {
  /** The notes, sections that are far too long cut; null when they cannot be used. */
  notes: string | null;
  /**
   * The index of the first message that stays, the number of messages when none does; null without notes.
   */
  keepFrom: number | null;
  /** Why there are no notes; null otherwise. */
  reason: CompactionReason | null;
  /**
   * Tokens of the notes and of what stays. An agent that would have to compact these too does better with a
   * summary.
   */
  tokens: number;
}

/**
 * The notes of one session. They are in the project's folder below the config home, at
 * `projects/<slug>/<session id>/session-memory/summary.md`, where the slug is that of the working directory.
 * Everything rejects with `invalid-argument` for an id that is no single file name, and where the store was
 * opened without a working directory; with `path-relative` where `CLAUDE_CONFIG_DIR` is no absolute path.
 */
export interface SessionNotes {
  /**
   * Lets the store's model bring the notes up to date when it is time, see `sessionNotesDue` of
   * `memdir/rules`. `messages` are all of the conversation. The model may edit this one file and nothing else.
   * While another one of the same session is under way, it is `skipped`.
   *
   * Rejects with `no-model` when there is none, `invalid-argument` and `invalid-text` for what is no message,
   * `closed`, or what the disk gave before the run. A run that does not come to its end is a result, `failed`.
   */
  update(messages: readonly Message[], options?: NotesOptions): Promise<NotesResult>;
  /**
   * The notes; null when there are none, or memory is off. Rejects with `not-text`, `too-large`, `unsupported`,
   * or what reading gave.
   */
  notes(options?: CallOptions): Promise<string | null>;
  /**
   * What comes in place of a conversation that is about to be compacted, see `compactionCut` of
   * `memdir/rules`. An update that is under way is waited for, for 15 seconds at most. Notes that cannot be
   * read are told in an event, and the conversation is compacted without them.
   */
  forCompaction(messages: readonly Message[], options?: CompactionOptions): Promise<Compaction>;
  /**
   * The file of the notes, absolute, whether it is there or not. Rejects with `disabled` when memory is off.
   */
  path(options?: CallOptions): Promise<string>;
}

/** What decides whether it is time to bring the notes of a session up to date. */
export interface NotesDue {
  /** Tokens of the whole conversation. */
  tokens: number;
  /** How many it had at the last update; null before the first one. */
  lastTokens?: number | null | undefined;
  /** Calls of tools since then. */
  toolCalls: number;
  /** Whether an answer without calls of tools counts as much as enough of them; false unless it is given. */
  naturalBreak?: boolean | undefined;
  /** Whether the model calls a tool in its last turn; false unless it is given. */
  lastTurnCalls?: boolean | undefined;
}

/** What is filled in for words in double braces. */
export interface TemplateValues {
  /** For `{{currentNotes}}`. */
  currentNotes: string;
  /** For `{{notesPath}}`. */
  notesPath: string;
}

/** How a turn that has ended is to be looked at. */
export interface AfterTurnOptions extends CallOptions {
  /**
   * Whose conversation it is, `main` unless it is given; after a turn of another agent than the main one nothing
   * is done.
   */
  agent?: AgentRole | undefined;
  /** As {@link ExtractOptions.interactive}. */
  interactive?: boolean | undefined;
  /** As {@link ExtractOptions.remote}. */
  remote?: boolean | undefined;
  /**
   * Which session it is: the one whose notes are kept, and whose transcript no dream looks at. Without one
   * there are no notes.
   */
  session?: string | null | undefined;
  /** As {@link ExtractOptions.request}. */
  request?: object | string | null | undefined;
  /** As {@link ExtractOptions.readRoots}. */
  readRoots?: readonly string[] | undefined;
  /** As {@link ExtractOptions.review}. */
  review?: boolean | undefined;
  /** As {@link NotesOptions.naturalBreak}. */
  naturalBreak?: boolean | undefined;
  /** How far the extractions had come before a restart. */
  extraction?: ExtractionState | null | undefined;
  /** How far the notes had come before a restart. */
  notes?: NotesState | null | undefined;
}

/** What came of the end of a turn. */
export interface AfterTurn {
  /** Of the extraction. */
  extraction: Extraction;
  /** Of the notes; null without a session. */
  notes: NotesResult | null;
  /** Of the dream. */
  dream: Dream;
}

/** How long {@link Memdir.drain} waits. */
export interface DrainOptions extends CallOptions {
  /** In whole milliseconds; 60,000 (a minute) unless it is given. */
  timeoutMs?: number | null | undefined;
}

/** Which changes of a proposal are meant. */
export interface ProposalOptions extends CallOptions {
  /** Relative to the store, with `/`; all of them unless they are given. */
  paths?: readonly string[] | null | undefined;
}

/** What kind of change: the run saw no such file, it gets another text, or it goes. */
export type InboxChangeKind = "created" | "changed" | "deleted";

/** What is to become of one file, as a person looks at it. */
export interface InboxChange {
  /** Relative to the store, with `/`. */
  path: string;
  /** What kind of change. */
  kind: InboxChangeKind;
  /**
   * From what the run saw to what it proposes: a unified diff with three lines of context, its headers
   * `a/PATH` and `b/PATH` or `/dev/null`, its lines as they are; empty when no line differs.
   */
  diff: string;
  /** Lines that come. */
  added: number;
  /** Lines that go. */
  removed: number;
  /**
   * Whether the file is neither what the run saw nor what it proposes: applying is a conflict then, but for an
   * index, which is merged.
   */
  isStale: boolean;
}

/** One proposal, as a person looks at it. */
export interface InboxItem {
  /** What it is called; later ones come after earlier ones. */
  id: string;
  /** What the run was for: `extract`. */
  purpose: string;
  /** When the run ended, in milliseconds since the epoch; 0 without a clock. */
  atMs: number;
  /** What still waits of it. */
  changes: InboxChange[];
}

/** What waits in the inbox. */
export interface Inbox {
  /** Oldest first. */
  items: InboxItem[];
  /** Files of the inbox that are no proposals (`inbox-damaged`). */
  report: ReportEntry[];
}

/** What came of applying a proposal. */
export interface InboxResult {
  /** One for each change that was tried, memories first. `conflict` and `refused` ones stay in the inbox. */
  results: WriteResult[];
  /**
   * The paths that still wait: those, what was not chosen, and an index as long as a memory waits whose lines
   * it changes.
   */
  left: string[];
}

/**
 * What background runs have left for a person instead of changing the store. Everything rejects with
 * `disabled` or what the disk gave; what names a proposal also with `invalid-argument` for what is no id,
 * `not-found` (for a path that it has not, too), and `not-text` when it is damaged.
 */
export interface InboxOperations {
  /** What waits, oldest first, each change with its diff. */
  list(options?: CallOptions): Promise<Inbox>;
  /**
   * Makes the changes of a proposal, or only those of some `paths`, memories first. A memory is replaced or
   * forgotten only while it is what the run saw (`conflict`); an index is merged entry by entry, and where
   * others have written the same entry anew theirs stands. What cannot be done stays in the inbox; a proposal
   * of which nothing is left goes. Rejects as {@link Memdir.save} does, too: what was done by then is
   * `unchanged` the next time.
   */
  apply(id: string, options?: ProposalOptions): Promise<InboxResult>;
  /**
   * Lets go of a proposal, or only of the changes of some `paths` and of the lines that an index was to get or
   * lose with them; gives the paths that still wait. Without `paths` a damaged one goes too.
   */
  drop(id: string, options?: ProposalOptions): Promise<string[]>;
}

/**
 * A model by its provider and the name that it has there. `openai/` speaks to every server with
 * OpenAI's chat completions.
 */
export type ModelName = `anthropic/${string}` | `openai/${string}`;

/** A model to ask over HTTP. */
export interface ModelOptions {
  /** `anthropic/NAME` or `openai/NAME`. */
  name: ModelName;
  /**
   * A secret: no error, event or report shows it. Unless it is given, `ANTHROPIC_API_KEY` or
   * `OPENAI_API_KEY` of the environment.
   */
  apiKey?: string | null | undefined;
  /**
   * Where the provider is, `http://` or `https://`; for `anthropic/` without, for `openai/` with
   * `/v1` at its end. Unless it is given, `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL` of the
   * environment, else the provider's own.
   */
  baseUrl?: string | null | undefined;
}

/** A name and a value: of HTTP, or of an environment. */
export interface Header {
  /** Lower case in HTTP answers. */
  name: string;
  /** As it stands on the wire. */
  value: string;
}

/** A request to a model's provider as it goes over the wire: a POST. */
export interface ModelHttp {
  /** The address. */
  url: string;
  /** Names in lower case. One of the values holds the key. */
  headers: Header[];
  /** JSON text. */
  body: string;
}

/** Options of every operation. */
export interface CallOptions {
  /**
   * Cancels the operation: requests and waits stop at once, file operations finish, and the promise
   * rejects with the code `aborted` and the signal's reason as `cause`.
   */
  signal?: AbortSignal | undefined;
}

/**
 * What is switched on beyond reading: `countUses` unless it is false, the others only if they are
 * true.
 */
export interface Features {
  /**
   * Team memory beside the private one: project and reference memories are saved there, and the prompt tells
   * of it. Sharing it is {@link Memdir.team}.
   */
  team?: boolean | undefined;
  /** Extraction after each turn, see {@link Memdir.extract}. */
  extract?: boolean | undefined;
  /** Extraction also where no person takes part. */
  extractNonInteractive?: boolean | undefined;
  /** Memories are saved without an index line, and the prompt has no index. */
  oneStep?: boolean | undefined;
  /** The prompt asks for notes in the log of the day, see {@link Memdir.log}, instead of memories. */
  dailyLog?: boolean | undefined;
  /**
   * Putting the memory in order now and then, see {@link Memdir.dream}; the setting `autoDreamEnabled` decides where
   * there is one.
   */
  dream?: boolean | undefined;
  /** Turns from one extraction to the next; 1 unless it is given. */
  extractEvery?: number | undefined;
  /**
   * How often a memory is recalled is counted in the store's own folder, `.memdir`, so that what is
   * used ranks higher; true unless it is given. False also leaves out of the ranking what others
   * counted there.
   */
  countUses?: boolean | undefined;
}

/**
 * How a store is opened. With `directory` that folder is the store; else the project that `cwd` lies
 * in decides, as in Claude Code.
 */
export interface OpenOptions extends CallOptions {
  /** The memory folder, absolute or beginning with `~/`. It need not exist. */
  directory?: string | null | undefined;
  /** The working directory, absolute; that of the process unless it is given. */
  cwd?: string | null | undefined;
  /** The user's home directory, absolute; that of the process unless it is given. */
  home?: string | null | undefined;
  /** The environment, where undefined is not set; that of the process unless it is given. */
  env?: Record<string, string | undefined> | undefined;
  /** Settings that count more than those of the user's and the project's files. */
  settings?: Record<string, unknown> | null | undefined;
  /** Whose path rules hold; those of this machine unless it is given. */
  platform?: Platform | null | undefined;
  /** What is switched on. */
  features?: Features | undefined;
  /** Hears of what happens during operations. What it throws becomes a process warning. */
  onEvent?: ((event: MemdirEvent) => void) | undefined;
  /**
   * What {@link Memdir.recall} and {@link Memdir.extract} ask: your own function, or a provider over HTTP, by name or with key
   * and address. Without it no model is ever asked; the environment adds key and address, never the
   * choice.
   */
  model?: ModelFunction | ModelName | ModelOptions | null | undefined;
  /**
   * The memory of an agent instead of the project's, see {@link Memdir.agent}; `directory` counts for
   * nothing then.
   */
  agent?: AgentOptions | null | undefined;
  /**
   * Where the team's memories are shared, for {@link Memdir.team}. What is left out comes from the
   * environment and the git remote, also without this; nothing is sent anywhere until it is asked for.
   */
  team?: TeamOptions | null | undefined;
  /**
   * Asked before instructions import a file outside of the working tree. Without it such files are skipped, but for
   * those in {@link InstructionsOptions.approved}.
   */
  approveImport?: ApproveImportFunction | undefined;
}

/**
 * Your own function that says whether instructions may import a file outside of the working tree, `path`, with every
 * link resolved; `parent` is the file that imports it. What it says holds for as long as the store is open; operations
 * that run at the same time may each ask. Where it throws, gives something else, or takes longer than 10 minutes, the
 * file is skipped, and it is asked again the next time.
 */
export type ApproveImportFunction = (path: string, parent: string) => boolean | Promise<boolean>;

/**
 * Your own function that gives the token for the team's server. It is asked for each operation, and once
 * more when the server refuses what it gave (status 401). `signal` is aborted when the operation is
 * cancelled or the function takes longer than 30 s; what it gives after that is ignored.
 */
export type TokenFunction = (options: { signal: AbortSignal }) => string | Promise<string>;

/**
 * What becomes of team memories that were forgotten here: teammates keep them (`keep`, facts 11.4), or after
 * 7 days they go from the server too, at most ten at a time (`propagate`).
 */
export type TeamDeletions = "keep" | "propagate";

/** Where a team's memories are shared (facts 11.2). */
export interface TeamOptions {
  /**
   * The server's address, without the path of the API: `https://`, or `http://` for this very machine.
   * Unless it is given, `MEMDIR_TEAM_URL`, then `TEAM_MEMORY_SYNC_URL` of the environment.
   */
  url?: string | null | undefined;
  /**
   * A secret, or a function that gives it: no error, event or report shows it, and a redirect gets none.
   * Unless it is given, `MEMDIR_TEAM_TOKEN` of the environment.
   */
  token?: string | TokenFunction | null | undefined;
  /** `owner/repo`; unless it is given, that of the project's git remote. */
  repository?: string | null | undefined;
  /** What becomes of team memories that were forgotten here; `keep` unless it is given. */
  deletions?: TeamDeletions | undefined;
}

/** What a pull, a push or a sync has done. Keys are paths below `team/`, with `/`, in byte order. */
export interface TeamSync {
  /** Keys that came from the server and were written here. */
  received: string[];
  /** Keys that teammates have deleted, and that went to the trash here. */
  removed: string[];
  /** Keys that went to the server. */
  sent: string[];
  /** Keys that were forgotten here, and are marked as deleted on the server now. */
  deleted: string[];
  /** Keys that both sides had changed: the server's version is in place, ours is kept. */
  conflicts: string[];
  /** What was left out, and why. */
  report: ReportEntry[];
}

/** A version of ours that a sync has kept, as the server's took its place. */
export interface Conflict {
  /** What it is called; later ones come after earlier ones. */
  id: string;
  /** The memory that it is a version of, relative to the store, with `/`. */
  path: string;
  /** When it was kept, in milliseconds since the epoch. */
  atMs: number;
  /** Its size in bytes. */
  size: number;
}

/** The same with its text. */
export interface ConflictFile {
  /** What it is called. */
  id: string;
  /** The memory that it is a version of, relative to the store, with `/`. */
  path: string;
  /** When it was kept, in milliseconds since the epoch. */
  atMs: number;
  /** Our text, whole. */
  content: string;
}

/** How the team folder stands to the server, by what is known without asking it. */
export interface TeamStatus {
  /** `owner/repo`; null when there is neither an option nor a git remote. */
  repository: string | null;
  /** Where its memories are; null when no server is known. */
  url: string | null;
  /** When they were synced last, in milliseconds since the epoch; null for never. */
  syncedMs: number | null;
  /** Keys that a push would upload, in byte order. */
  toSend: string[];
  /** Our versions that are kept until somebody deals with them, oldest first. */
  conflicts: Conflict[];
  /** What a push would leave out, and why. */
  report: ReportEntry[];
}

/** How {@link Team.watch} syncs. */
export interface WatchOptions extends CallOptions {
  /**
   * From one sync to the next when nothing changes here, in whole milliseconds; 300,000 (5 minutes) unless
   * it is given. Less than a few seconds counts as that.
   */
  periodMs?: number | null | undefined;
}

/**
 * The memories below `team/`, shared with teammates through a server (facts 11). No edit is lost: what both
 * sides have changed is kept, see {@link Team.conflicts}. Memories of type `user` and those with secrets are
 * never uploaded; that is reported.
 *
 * What asks the server rejects with `no-server`, `no-repository` or `no-token` when these are not known;
 * `invalid-argument` for an address, a repository or a token that is none; `team-auth` (401, 403),
 * `team-busy` (409, 429, 5xx, after four tries), `team-refused` (any other status, a redirect too),
 * `team-answer` for an answer that is none, `timeout` (30 s for each try), `network`; what the token function
 * threw (`other`) or its `timeout`; `disabled`, `busy` when others keep writing, or what the disk gave. What
 * was done until then stays done, and the next sync goes on from there.
 */
export interface Team {
  /**
   * Brings what is new on the server. Its version takes the place of what was not changed here since the last
   * sync; what is in order already is not touched, and nothing is downloaded when nothing has changed there.
   */
  pull(options?: CallOptions): Promise<TeamSync>;
  /**
   * Takes what was changed here to the server, in uploads of at most 200,000 bytes, and first brings what
   * teammates have changed too. Rejects with `team-conflict`, beside the codes of all, when teammates keep
   * being faster.
   */
  push(options?: CallOptions): Promise<TeamSync>;
  /** A pull, then a push. */
  sync(options?: CallOptions): Promise<TeamSync>;
  /** How the folder stands, without asking the server or for a token. Rejects with `disabled` or what the disk gave. */
  status(options?: CallOptions): Promise<TeamStatus>;
  /**
   * Syncs at once, when a change here has been quiet for 2 seconds, and from time to time. Fulfils when the
   * store is closed, and rejects with `aborted` when `signal` is; until then the process stays alive. What it
   * does, and what goes wrong, are events (`team-sync`, `warning`); a refusal that will not mend itself
   * (`team-auth`, `no-token`) stops the uploads until a file of the folder goes away (facts 11.5).
   */
  watch(options?: WatchOptions): Promise<void>;
  /** Our versions that a sync has kept, oldest first. Rejects with `disabled` or what the disk gave. */
  conflicts(options?: CallOptions): Promise<Conflict[]>;
  /** One of them, with its text. Rejects with `not-found`, with `not-text`, and as {@link Team.conflicts} does. */
  conflict(id: string, options?: CallOptions): Promise<ConflictFile>;
  /**
   * Puts one of them in place again, and no longer keeps it. What is there goes to the trash, and the next push
   * uploads it. Results and errors are those of {@link Memdir.save}, beside those of {@link Team.conflict}.
   */
  restore(id: string, options?: CallOptions): Promise<WriteResult>;
  /** Lets go of one of them. Rejects with `not-found`, and as {@link Team.conflicts} does. */
  drop(id: string, options?: CallOptions): Promise<void>;
}

/**
 * What a sync does about one team memory:
 *
 * - `receive`: the server's content is written here.
 * - `remove`: a teammate has deleted it, and nothing was changed here: it goes here too.
 * - `send`: ours goes to the server.
 * - `conflict`: both have changed: the server's version is put in place here, and ours kept.
 * - `forgotten`: it was forgotten here, and stays away until the server's copy changes.
 */
export type TeamAction = "receive" | "remove" | "send" | "conflict" | "forgotten";

/** An index that was merged. */
export interface MergedIndex {
  /** The server's version with our changes. */
  content: string;
  /** Whether both sides have written the same line anew: then the server's stands, and ours is not in it. */
  lost: boolean;
}

/**
 * One program of a pipe, to be run without a shell, with a fixed `PATH` and no environment. What the one
 * before prints is its input; the first has none.
 */
export interface ShellStage {
  /** The program's name and its words. */
  argv: string[];
  /**
   * The words, or parts of them, that name a file or folder, as they are written: relative ones lie in the
   * folder that the program runs in, and a program that is given none may look at that folder. Below these
   * no link is followed, but by `diff`, when one of them is a folder.
   */
  paths: string[];
}

/** What a prompt is made of. */
export interface PromptOptions extends CallOptions {
  /**
   * Whether the content of the index is part of it; true unless it is given. One-step saving leaves
   * it out anyway.
   */
  index?: boolean | undefined;
  /** Whether it says how to search what was said in earlier conversations; false unless given. */
  pastContext?: boolean | undefined;
  /**
   * Further guidelines, appended as they are, after those of the variable
   * `CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES`.
   */
  guidelines?: readonly string[] | undefined;
}

/** Which instructions are loaded, and what may be loaded besides. All paths are absolute. */
export interface InstructionsOptions extends CallOptions {
  /**
   * Whether `AGENTS.md` of every folder of the project is read, too, before its `CLAUDE.md`; false unless it is
   * given.
   */
  agentsMd?: boolean | undefined;
  /** Whether the user's instructions for all projects are loaded; true unless it is given. */
  user?: boolean | undefined;
  /** Whether the project's are, which come with its files; true unless it is given. */
  project?: boolean | undefined;
  /** Whether the user's for this project are, which are not checked in; true unless it is given. */
  local?: boolean | undefined;
  /** Folders whose instructions are loaded as those of the working directory are, behind them. */
  additionalDirectories?: readonly string[] | undefined;
  /**
   * Globs over whole absolute paths of files that are not read, as `instructionsExcluded` of `memdir/rules` takes
   * them; they count beside `claudeMdExcludes` of the settings. What the administrator has written stays.
   */
  excludes?: readonly string[] | undefined;
  /** Files, and folders of files, outside of the working tree that may be imported without being asked for. */
  approved?: readonly string[] | undefined;
  /** Files that the conversation has already, which are not loaded once more. */
  loaded?: readonly string[] | undefined;
}

/**
 * Whose instructions they are, from the broadest to the nearest: of the machine's administrator, of the user for all
 * projects, of the project, and of the user for this project. `memory` and `team` are the indexes of the two
 * memories; they are only in the report of a {@link Context}.
 */
export type InstructionSource = "managed" | "user" | "project" | "local" | "memory" | "team";

/**
 * How a file comes in: it stands where instructions are looked for (`file`), in a folder of rules (`rule`), another
 * one imports it (`import`), it is a text in the administrator's settings (`settings`), or the index of a memory
 * (`index`).
 */
export type LoadKind = "file" | "rule" | "import" | "settings" | "index";

/**
 * What became of a file that was considered:
 *
 * - `loaded`: an agent is shown it.
 * - `skipped`: it is not; `code` and `message` say why.
 * - `conditional`: it is about certain files, and comes with the first of them that is touched.
 */
export type LoadOutcome = "loaded" | "skipped" | "conditional";

/** Something that a person should know of a file that was read. */
export interface LoadNote {
  /** What kind of thing. */
  code: ReportCode;
  /** One line: what, and what to do. */
  message: string;
}

/** What became of one file that was considered. */
export interface LoadEntry {
  /** Absolute. */
  path: string;
  /** Whose it is. */
  source: InstructionSource;
  /** How it comes in. */
  kind: LoadKind;
  /** What became of it. */
  outcome: LoadOutcome;
  /** Why it was skipped; null otherwise. */
  code: ReportCode | null;
  /** The same for a person, with what to do about it, on one line; null otherwise. */
  message: string | null;
  /** The file that imports it, absolute; null for what stands by itself. */
  parent: string | null;
  /** How many imports lead to it, at most 4 for one that is loaded. */
  depth: number;
  /** The file's size in bytes, where it is known. */
  bytes: number | null;
  /** Its lines, where it was read. */
  lines: number | null;
  /** The patterns of the files that it is about; null when it is about all. */
  globs: string[] | null;
  /** What else there is to know of it. */
  notes: LoadNote[];
}

/** One file of instructions that was loaded. */
export interface InstructionFile {
  /** Absolute. */
  path: string;
  /** Whose it is. */
  source: InstructionSource;
  /** How it came in. */
  kind: LoadKind;
  /**
   * What is shown of it: without front matter, without comments that stand by themselves and without characters that
   * nobody sees, trimmed. Empty for an empty file.
   */
  text: string;
  /** The file that imports it, absolute; null for what stands by itself. */
  parent: string | null;
  /** The patterns of the files that it is about; null when it is about all. */
  globs: string[] | null;
  /** Whether the file has more than is shown, so that it must be read before it is edited. */
  differs: boolean;
}

/** What people have written for an agent, and what became of every file that was considered. */
export interface Instructions {
  /** What an agent is shown: the files with a heading each, below a preamble. Empty when there is nothing. */
  text: string;
  /** What was loaded, in order: what comes later is nearer to the work and has more weight. */
  files: InstructionFile[];
  /** What became of every file that was considered, in the same order, a file before what it imports. */
  report: LoadEntry[];
}

/**
 * A part of a context: what people wrote (`instructions`), how memory works (`memory`), what there is in the private
 * memory (`index`) and in that of the team (`team-index`).
 */
export type ContextKind = "instructions" | "memory" | "index" | "team-index";

/** One part of what an agent starts with. */
export interface ContextPart {
  /** Which one. */
  kind: ContextKind;
  /** Its text, never empty. */
  text: string;
}

/** Everything that an agent should start with. */
export interface Context {
  /** All parts, with a blank line between them; empty when there is nothing. */
  text: string;
  /** The parts that there are, in order. */
  parts: ContextPart[];
  /** What became of every file that was considered, indexes included. */
  report: LoadEntry[];
}

/** One import that stands in a text. */
export interface ImportTarget {
  /** As it is written, without `@`, fragment and punctuation behind it. */
  target: string;
  /**
   * Whether it is a path by its form. Anything else may be a name as well (`@alice`, `@scope/package`), and is an
   * import only where there is such a file.
   */
  certain: boolean;
}

/** What one file of instructions says. */
export interface ParsedInstructions {
  /** What an agent reads, trimmed. */
  text: string;
  /** What it imports, in order, each once. */
  imports: ImportTarget[];
  /** The patterns of the files that it is about; null when it is about all. */
  paths: string[] | null;
  /**
   * What could not be read as it was meant: `frontmatter-unclosed`, `frontmatter-invalid`, `frontmatter-repaired`,
   * `frontmatter-not-a-map`, `paths-ignored`, `comment-unclosed`.
   */
  problems: ReportCode[];
}

/** Where an import leads. */
export interface ResolvedImport {
  /** Absolute and normalised. */
  path: string;
  /** Whether it may be text by its name: a known extension, or none. */
  isText: boolean;
}

/** What a place holds: one file, or a folder of rules with its subfolders. */
export type PlaceKind = "file" | "rules";

/**
 * Why a place is not looked at: its source is switched off (`off`), or it is the main repository's and the worktree
 * inside it has the same files (`worktree`).
 */
export type PlaceSkip = "off" | "worktree";

/** One place where instructions may be. */
export interface InstructionPlace {
  /** Absolute. */
  path: string;
  /** Whose it is. */
  source: InstructionSource;
  /** A file or a folder. */
  kind: PlaceKind;
  /** Null when it is looked at. */
  skipped: PlaceSkip | null;
}

/** What decides where instructions are looked for. Folders are absolute. */
export interface PlacesQuestion {
  /** Whose path rules hold. */
  platform: Platform;
  /** The working directory. */
  cwd?: string | null | undefined;
  /** The user's folder, such as `~/.claude`. */
  configHome?: string | null | undefined;
  /** The administrator's folders; none unless they are given. */
  managed?: readonly string[] | undefined;
  /** The root of the working tree that `cwd` lies in. */
  checkout?: string | null | undefined;
  /** The root of its main repository; another one than `checkout` in a worktree. */
  canonical?: string | null | undefined;
  /** Further folders that count like the working directory, without those above them; none unless they are given. */
  additional?: readonly string[] | undefined;
  /** Whether `AGENTS.md` is read, too; false unless it is given. */
  agentsMd?: boolean | undefined;
  /** Whether the user's instructions are loaded. */
  user: boolean;
  /** Whether the project's are. */
  project: boolean;
  /** Whether the user's for this project are. */
  local: boolean;
}

/**
 * How a recall chooses:
 *
 * - `auto`: the model of the store if it has one, else the words of query and memories.
 * - `model`: the model; without one the recall rejects with `no-model`.
 * - `lexical`: words, also where there is a model.
 *
 * With `auto` and with `model` words decide when the model fails, which is reported
 * (`model-failed`), and for a query of one word, without white space, about which no model is asked
 * (`model-skipped`).
 */
export type Strategy = "auto" | "model" | "lexical";

/** What a tool of the agent's gave. */
export interface ToolResult {
  /** The tool's name. */
  tool: string;
  /** Whether it succeeded; null while it runs. */
  ok?: boolean | null | undefined;
}

/**
 * What a conversation has been shown already: plain data, to be kept by the agent and passed to its
 * next recall. After a compaction the agent builds it anew from what is left in the conversation;
 * then memories that went away can be recalled again.
 */
export interface RecallState {
  /** The memories that were shown, relative to the store. */
  surfaced: string[];
  /** UTF-8 bytes of their contents as shown. */
  bytes: number;
}

/** What a recall is given besides its query. */
export interface RecallOptions extends CallOptions {
  /**
   * How many memories at most, from 1; five unless it is given. More than five are lowered to five,
   * which is reported (`limit-lowered`).
   */
  limit?: number | null | undefined;
  /** How they are chosen; `auto` unless it is given. */
  strategy?: Strategy | undefined;
  /** Tools that the agent is using: a model leaves out how they are used and keeps warnings. */
  recentTools?: readonly string[] | undefined;
  /**
   * What tools gave since the user's message before the last one; those that only succeeded count as
   * recent too (facts 5.3).
   */
  toolResults?: readonly ToolResult[] | undefined;
  /** Memories that were shown already, relative to the store or absolute; they are not recalled. */
  surfaced?: readonly string[] | undefined;
  /** Files that the agent has read itself, relative to the store or absolute; neither are they. */
  alreadyRead?: readonly string[] | undefined;
  /** What the last recall of this conversation gave; nothing was shown unless it is given. */
  state?: RecallState | null | undefined;
}

/** Who chose a memory: a model, or its words, which fit the query's. */
export type RecallReason = "model" | "lexical";

/** One memory as shown. */
export interface RecalledMemory {
  /** Relative to the store, with `/`. */
  path: string;
  /** The same for tools that read files. */
  absolutePath: string;
  /** The file's modification time, in milliseconds since the epoch. */
  mtimeMs: number;
  /** What a scan says of it. */
  header: MemoryHeader;
  /** Whole days since it was written, never negative. */
  ageDays: number;
  /** `today`, `yesterday`, `3 days ago`. */
  age: string;
  /** What to keep in mind when using it; null while it is fresh (today and yesterday). */
  warning: string | null;
  /** The beginning of the file, frontmatter included, as far as it is shown. */
  content: string;
  /** What was cut and where the rest is; null when nothing was. */
  note: string | null;
  /** Who chose it. */
  reason: RecallReason;
  /**
   * How well its words fit the query's, rounded to thousandths, to be compared within one answer;
   * null when they do not.
   */
  score: number | null;
  /** All of it for the agent's model: header, warning, content, note. */
  text: string;
}

/** The memories that help with a query (facts 5). */
export interface Recall {
  /** The best first. */
  memories: RecalledMemory[];
  /** What was skipped, cut or repaired, by path. */
  report: ReportEntry[];
  /** To be passed to the next recall of this conversation. */
  state: RecallState;
  /**
   * What the agent's model is shown: the texts of all memories, joined by a blank line. The same to
   * the byte in every later turn. It is not enumerable: a copy and JSON have only the data.
   */
  render(): string;
}

/** One thing that a query asks for: a word, an identifier, or a piece of a text without blanks. */
export interface Word {
  /** What it is found by as a whole; null when that stands in any text. */
  whole: string | null;
  /**
   * What else it is found by: the parts of an identifier, the pieces of a word. A piece of three
   * letters begins with `~`.
   */
  parts: string[];
}

/** A memory as `rankMemories` takes it. */
export interface RankedMemory {
  /** Relative to the store, with `/`. */
  path: string;
  /** The whole text of the file. */
  text: string;
  /** Whole days since it was written; 0 unless it is given. */
  ageDays?: number | undefined;
  /** How often it was recalled; 0 unless it is given. */
  uses?: number | undefined;
}

/** A memory that a query found. */
export interface Found {
  /** Its path, as given. */
  path: string;
  /** How well it fits, rounded to thousandths: to be compared within one answer only. */
  score: number;
}

/** A memory as far as it is shown. */
export interface CutMemory {
  /** Its beginning, of whole lines unless the first one is too long by itself. */
  content: string;
  /** Lines of `content`. */
  lines: number;
  /** What was cut and where the rest is, one line for the model; null when nothing was cut. */
  note: string | null;
}

/** What a model chose. */
export interface Selection {
  /** Among the candidates, each once, at most five. */
  paths: string[];
  /** What else it named: what is no candidate, and what is over five. */
  dropped: string[];
}
