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
  | "duplicate-name";

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

/** What can name a memory directory (facts 1.2); `option` is the `directory` passed to `open`. */
export type Source =
  | "option"
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
  | "not-text"
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
  | "other";

/**
 * Which group a code belongs to: `engine` is how the operation was driven (cancelled, a defect),
 * `input` what the caller passed in, `path` a path that a rule refuses, `host` what the operating
 * system or the network answered.
 */
export type ErrorFamily = "engine" | "input" | "path" | "host";

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
  /** What kind of event; today only `warning`. */
  kind: string;
  /** Relative to the store, when it is about one file. */
  path: string | null;
  /** A {@link ReportCode} when it is about something cut or skipped. */
  code: string | null;
  /** One line in plain words. */
  message: string;
}

/**
 * Your own model: takes the request as JSON and gives the model's answer as JSON. `signal` is
 * aborted when the operation is cancelled or the model takes too long; what it gives after that is
 * ignored. It may use the store that calls it.
 */
export type ModelFunction = (request: string, options: { signal: AbortSignal }) => string | Promise<string>;

/** Options of every operation. */
export interface CallOptions {
  /**
   * Cancels the operation: requests and waits stop at once, file operations finish, and the promise
   * rejects with the code `aborted` and the signal's reason as `cause`.
   */
  signal?: AbortSignal | undefined;
}

/** What is switched on beyond reading. Only `oneStep` has an effect in this version; the others are reserved. */
export interface Features {
  /** Team memory beside the private one. */
  team?: boolean | undefined;
  /** Extraction after each turn. */
  extract?: boolean | undefined;
  /** Extraction also where nobody watches. */
  extractNonInteractive?: boolean | undefined;
  /** Memories are written without an index line, and the prompt has no index. */
  oneStep?: boolean | undefined;
  /** Notes go to dated logs. */
  dailyLog?: boolean | undefined;
  /** Consolidation in the background. */
  dream?: boolean | undefined;
  /** Turns from one extraction to the next; 1 unless it is given. */
  extractEvery?: number | undefined;
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
  /** What is switched on; nothing unless it is given. */
  features?: Features | undefined;
  /** Hears of what happens during operations. What it throws becomes a process warning. */
  onEvent?: ((event: MemdirEvent) => void) | undefined;
  /** Used wherever an operation needs a model, which none does in this version; without it no model is ever called. */
  model?: ModelFunction | undefined;
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
