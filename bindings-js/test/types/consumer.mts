// Compiled, never run: the types as a program sees them that imports the package.

import {
  isMemdirError,
  Memdir,
  MemdirError,
  type AfterTurn,
  type AfterTurnOptions,
  type AgentOptions,
  type AgentScope,
  type ApproveImportFunction,
  type Block,
  type Compaction,
  type Conflict,
  type ConflictFile,
  type Context,
  type Dream,
  type DreamOptions,
  type DreamUndone,
  type ErrorCode,
  type Extraction,
  type ExtractionRunner,
  type ExtractionState,
  type ExtractOptions,
  type Finding,
  type ForgetOptions,
  type Inbox,
  type InboxOperations,
  type InboxResult,
  type Instructions,
  type InstructionsOptions,
  type LoadEntry,
  type MemoryHeader,
  type MemoryPlaces,
  type MemoryToolHandlers,
  type Message,
  type ModelFunction,
  type ModelOptions,
  type ModelRequest,
  type ModelToolRequest,
  type NotesResult,
  type NotesState,
  type Opened,
  type Recall,
  type RecalledMemory,
  type RecallOptions,
  type RecallState,
  type RunReport,
  type SaveOptions,
  type Scan,
  type SessionNotes,
  type Team,
  type TeamOptions,
  type TeamStatus,
  type TeamSync,
  type TokenFunction,
  type ToolReply,
  type ToolResult,
  type Transcript,
  type WriteOutcome,
  type WriteResult,
} from "memdir";
import {
  batchEntries,
  chooseDirectory,
  classifyPath,
  classifyToolCall,
  compactionCut,
  cutMemory,
  conversationText,
  decideDream,
  decideExtraction,
  decodeModelAnswer,
  decodeToolAnswer,
  defaultScope,
  encodeModelRequest,
  encodeToolRequest,
  envFlag,
  estimateTokens,
  fillTemplate,
  grantBytes,
  instructionPlaces,
  instructionsExcluded,
  lintMemories,
  lockIsHeld,
  mayWrite,
  measureNotes,
  memoryAge,
  memoryEnabled,
  memoryFileName,
  mergeTeamIndex,
  notesAreEmpty,
  parseInstructions,
  parseSettings,
  parseTranscript,
  rankMemories,
  readOnlyCommand,
  readSelection,
  recentTools,
  redactSecrets,
  resolveImport,
  retryPauseMs,
  ruleApplies,
  scanSecrets,
  sessionNotesDue,
  summariseToolCalls,
  teamReconcile,
  teamRepository,
  tokenize,
  truncateIndex,
  updateIndex,
  updateMemory,
  validateMemoryPath,
  validateTeamKey,
  type Awake,
  type CompactionQuestion,
  type CutMemory,
  type DreamGate,
  type Edited,
  type ExtractionDecision,
  type IndexEntry,
  type InstructionPlace,
  type MemoryChanges,
  type MergedIndex,
  type ModelHttp,
  type NotesMeasure,
  type ParsedInstructions,
  type PathKind,
  type PlacesQuestion,
  type RankedMemory,
  type ResolvedImport,
  type SecretFinding,
  type Selection,
  type ShellStage,
  type TeamAction,
  type ToolAnswer,
  type ToolClass,
  type ToolRequest,
  type Truncation,
  type Word,
} from "memdir/rules";

export async function example(signal: AbortSignal): Promise<string[]> {
  await using memory = await Memdir.open({
    directory: "/srv/memory",
    cwd: null,
    home: "/home/me",
    env: { CLAUDE_CONFIG_DIR: "/srv/config", CLAUDE_CODE_SIMPLE: undefined },
    settings: { autoMemoryEnabled: true, other: [1] },
    platform: "posix",
    features: { oneStep: true, extractEvery: 2, countUses: false },
    onEvent: (event) => console.log(event.kind, event.path?.length, event.message),
    model: async (request, { signal }) => (signal.aborted ? "" : request.messages.map(({ role, content }) => role + content).join()),
  });
  const directory: string = memory.directory;
  const enabled: boolean = memory.enabled;
  const opened: Opened = memory.opened;
  const why: string[] = [opened.because, opened.chosenBy, ...opened.refused.map(({ source, code }) => source + code)];
  const scan: Scan = await memory.scan({ signal });
  const prompt: string | null = await memory.prompt({ index: false, pastContext: true, guidelines: why });
  const { findings } = await memory.lint({ signal });
  const worst: Finding | undefined = findings.find(({ severity }) => severity === "error");
  memory.compacted();
  const manifest: string = await memory.manifest();
  const { header, content } = await memory.read("a.md");
  const headers: MemoryHeader[] = [...scan.memories, header];
  for (const { code } of scan.report) {
    switch (code) {
      case "over-limit":
      case "link-outside":
        break;
    }
  }
  // @ts-expect-error: a header has no such field
  headers[0]?.title;
  await Memdir.open();
  // @ts-expect-error: settings are an object, not JSON
  await Memdir.open({ settings: "{}" });
  // @ts-expect-error: there is no such feature
  await Memdir.open({ features: { twoSteps: true } });
  // @ts-expect-error: stores are opened, not constructed
  new Memdir();
  return [directory, String(enabled), String(prompt), manifest, content, String(worst?.line)];
}

export async function recalling(memory: Memdir, signal: AbortSignal, key: string | undefined): Promise<string> {
  const tools: readonly ToolResult[] = [{ tool: "Bash", ok: true }, { tool: "Edit", ok: null }, { tool: "Read" }];
  const options: RecallOptions = { limit: 3, strategy: "auto", recentTools: ["Grep"], toolResults: tools, signal };
  const first: Recall = await memory.recall("how do we deploy?", options);
  const state: RecallState = JSON.parse(JSON.stringify(first.state));
  const { memories, report, render } = await memory.recall("and then?", { state, surfaced: ["a.md"], alreadyRead: ["b.md"] });
  const best: RecalledMemory | undefined = memories[0];
  const score: number | null | undefined = best?.score;
  const failed: boolean = report.some(({ code }) => code === "model-failed");
  const ask: ModelFunction = ({ purpose, system, maxTokens, schema }) => purpose + system + maxTokens + String(schema?.["type"]);
  const named: ModelOptions = { name: "openai/qwen3", apiKey: key, baseUrl: "http://localhost:11434/v1" };
  for (const model of [ask, named, "anthropic/claude-haiku-4-5", null, undefined] as const) {
    await Memdir.open({ model });
  }
  // @ts-expect-error: no such provider
  await Memdir.open({ model: "claude-haiku-4-5" });
  // @ts-expect-error: an answer is a text
  await Memdir.open({ model: () => ({ selected_memories: [] }) });
  // @ts-expect-error: no such strategy
  await memory.recall("x", { strategy: "fast" });
  // @ts-expect-error: a recall has no such field
  first.paths;
  return first.render() + render() + `${score} ${failed} ${best?.reason === "lexical"}`;
}

export async function writing(memory: Memdir, signal: AbortSignal): Promise<WriteResult[]> {
  const fresh: SaveOptions = { type: "user", name: "role", description: null, body: "Knows Go.", scope: "private" };
  const saved: WriteResult = await memory.save(fresh, { signal });
  const path: string = saved.path ?? "user_role.md";
  const { body, hash } = await memory.read(path);
  const changed = await memory.save({ path, body: `${body}\nAnd Rust.`, expect: hash });
  const outcome: WriteOutcome = changed.outcome;
  const why: ErrorCode | null = changed.code;
  const options: ForgetOptions = { expect: outcome === "written" ? changed.hash : null, signal };
  const forgotten = await memory.forget(path, options);
  // @ts-expect-error: no such type
  await memory.save({ type: "note", name: String(why) });
  // @ts-expect-error: something is to be saved
  await memory.save();
  // @ts-expect-error: the signal is no part of what is saved
  await memory.save({ path, signal });
  return [saved, changed, forgotten, await memory.undoForget(), await memory.undoForget(path, { signal })];
}

export async function agents(memory: Memdir, signal: AbortSignal): Promise<WriteResult> {
  const scope: AgentScope = "project";
  const reviewer: Memdir = await memory.agent("reviewer", scope, { signal });
  const same: AgentOptions = { name: "reviewer", scope };
  await Memdir.open({ agent: same });
  await Memdir.open({ agent: null });
  // @ts-expect-error: no such scope
  await memory.agent("reviewer", "team");
  // @ts-expect-error: who shares it must be said
  await memory.agent("reviewer");
  const tool: MemoryToolHandlers = reviewer.tool({ signal });
  const shown: string = await tool.view({ path: "/memories", view_range: null });
  await tool.str_replace({ path: "/memories/a.md", old_str: shown });
  // @ts-expect-error: the text is missing
  await tool.create({ path: "/memories/a.md" });
  // @ts-expect-error: a note is needed
  await reviewer.log();
  return reviewer.log("reviewed the checkout service", { signal });
}

export async function extracting(memory: Memdir, signal: AbortSignal): Promise<string> {
  const blocks: readonly Block[] = [
    { type: "text", text: "I will." },
    { type: "tool_use", id: "t", name: "Read", input: {} },
    { type: "thinking", thinking: "hm", signature: "x" },
  ];
  const messages: readonly Message[] = [
    { id: "u", role: "user", content: "please write small commits", isMeta: false, tokens: null },
    { role: "assistant", content: blocks },
  ];
  const state: ExtractionState = { cursor: null, turns: 0 };
  const options: ExtractOptions = { agent: "main", interactive: true, remote: false, session: "s", state, readRoots: ["/srv"], signal };
  const first: Extraction = await memory.extract(messages, { ...options, request: { messages: [] }, review: true });
  const run: ExtractionRunner = async ({ system, prompt, tools, maxTurns, maxTokens, call, signal }) => {
    const reply: ToolReply = await call(tools[0]?.name ?? system, { file_path: prompt, signal });
    const report: RunReport = { error: reply.isError ? reply.content : null, turns: maxTurns, usage: first.usage };
    return maxTokens > 0 ? report : undefined;
  };
  const second = await memory.extract([...messages], { run, request: "{}" });
  await memory.extract(messages, { run: () => {} });
  const drained: boolean = (await memory.drain()) && (await memory.drain({ timeoutMs: 5, signal }));
  const transcript: Transcript = await memory.transcript("session.jsonl", { signal });
  await memory.extract(transcript.messages);
  const { list, apply }: InboxOperations = memory.inbox;
  const inbox: Inbox = await list({ signal });
  const said: string[] = [String(second.reason), second.ended ?? "", `${drained} ${transcript.leftOut}`];
  for (const { id, changes, atMs } of inbox.items) {
    const paths = changes.filter(({ isStale, kind }) => !isStale && kind !== "deleted").map(({ path }) => path);
    const { results, left }: InboxResult = await apply(id, { paths, signal });
    said.push(...left, ...(await memory.inbox.drop(id)), `${atMs} ${results[0]?.outcome}`);
  }
  const both = (request: ModelRequest | ModelToolRequest) => ("tools" in request ? request.tools.length : request.messages.length).toString();
  const alone = ({ messages }: ModelRequest) => messages.map(({ content }) => content).join();
  for (const model of [both, alone]) {
    await Memdir.open({ model });
  }
  // @ts-expect-error: a message is somebody's
  await memory.extract([{ content: "x" }]);
  // @ts-expect-error: no such role
  await memory.extract(messages, { agent: "other" });
  // @ts-expect-error: a request is an object or text
  await memory.extract(messages, { request: 5 });
  // @ts-expect-error: a report has no such field
  await memory.extract(messages, { run: () => ({ result: 1 }) });
  return said.join();
}

export function extractionRules(messages: readonly Message[], request: ToolRequest): string {
  const { places } = ({} as Memdir).opened;
  const flags = { interactive: true, remote: false, extract: true, extractNonInteractive: false, running: false, trailing: false };
  const state: ExtractionState = { cursor: null, turns: 0 };
  const told: string = conversationText(messages);
  void told;
  const decision: ExtractionDecision = decideExtraction(messages, state, { agent: "main", every: 1, places, ...flags });
  const transcript: Transcript = parseTranscript("");
  const { body }: ModelHttp = encodeToolRequest({ name: "anthropic/x" }, request);
  const answer: ToolAnswer = decodeToolAnswer("anthropic/x", 200, body);
  return decision.verdict + (decision.reason ?? "") + transcript.leftOut + answer.calls.map(({ input }) => input).join();
}

export async function afterTurns(memory: Memdir, messages: readonly Message[], signal: AbortSignal): Promise<string> {
  const state: NotesState = { lastTokens: null, cursor: null, lastSummarised: null };
  const options: AfterTurnOptions = { agent: "main", session: null, naturalBreak: true, extraction: null, notes: state, signal };
  const { extraction, notes, dream }: AfterTurn = await memory.afterTurn(messages, { ...options, request: { messages } });
  const asked: DreamOptions = { force: true, dryRun: false, logs: false, session: "s", remote: false, readRoots: ["/srv"], signal };
  const dreamt: Dream = await memory.dream(asked);
  const undone: DreamUndone = await memory.undoDream({ signal });
  const session: SessionNotes = memory.session("s");
  const updated: NotesResult = await session.update(messages, { force: true, naturalBreak: true, request: "{}", state, signal });
  const compaction: Compaction = await session.forCompaction(messages, { boundary: 5, state: updated.state, signal });
  const text: string | null = await session.notes();
  const path: string = await session.path({ signal });
  // @ts-expect-error: a session has a name
  memory.session();
  // @ts-expect-error: with your own agent, extract alone
  await memory.afterTurn(messages, { run: () => {} });
  // @ts-expect-error: no such option
  await memory.dream({ always: true });
  const known = [extraction.outcome, notes?.reason, dream.reason, dreamt.notice, undone.id, compaction.reason, text, path];
  return known.join() + messages.slice(compaction.keepFrom ?? 0).length;
}

export function afterTurnRules(messages: readonly Message[], template: string): string {
  const gate: DreamGate = { dream: true, enabled: true, remote: false, dailyLog: false, nowMs: 0, lastMs: null };
  const reason: Awake | null = decideDream({ ...gate, sessions: 5 });
  const held: boolean = lockIsHeld({ nowMs: 0, mtimeMs: 0, body: "1", alive: null });
  const due: boolean = sessionNotesDue({ tokens: estimateTokens(template), toolCalls: 3 });
  const measure: NotesMeasure = measureNotes(template);
  const question: CompactionQuestion = { messages, template, notes: fillTemplate(template, { currentNotes: "", notesPath: "" }) };
  const { keepFrom } = compactionCut(question);
  return [reason, held, due, measure.sections[0]?.heading, keepFrom, notesAreEmpty("", template)].join();
}

export async function instructing(signal: AbortSignal): Promise<string> {
  const ask: ApproveImportFunction = async (path, parent) => path.length > parent.length;
  for (const approveImport of [ask, () => true, undefined] as const) {
    await Memdir.open({ approveImport });
  }
  // @ts-expect-error: an approval is true or false
  await Memdir.open({ approveImport: () => "yes" });
  await using memory = await Memdir.open();
  const options: InstructionsOptions = { agentsMd: true, user: true, project: true, local: false, excludes: ["**/a.md"], signal };
  const { text, files, report }: Instructions = await memory.instructions({ ...options, additionalDirectories: ["/srv"] });
  const more: Instructions = await memory.instructionsFor("src/a.ts", { loaded: files.map(({ path }) => path), approved: [] });
  const context: Context = await memory.context(options);
  const left: LoadEntry[] = [...report, ...more.report].filter(({ outcome }) => outcome === "skipped");
  // @ts-expect-error: a file is named
  await memory.instructionsFor({ signal });
  // @ts-expect-error: the administrator's cannot be switched off
  await memory.instructions({ managed: false });
  const why = left.map(({ code, message, parent, depth, bytes }) => [code, message, parent, depth, bytes].join());
  return text + why.join() + context.parts.map(({ kind, text }) => kind + text).join();
}

export function instructionRules(question: PlacesQuestion): string[] {
  const { text, imports, paths, problems }: ParsedInstructions = parseInstructions("See @docs/a.md");
  const target: ResolvedImport | null = resolveImport(imports[0]?.target ?? "", "/p/CLAUDE.md", { platform: "posix", home: null });
  const places: InstructionPlace[] = instructionPlaces({ ...question, managed: ["/etc/claude-code"], cwd: null });
  const applies: boolean = ruleApplies(paths ?? [], "src/a.ts");
  const found = places.filter(({ path, skipped }) => skipped === null && !instructionsExcluded(["**"], [path], { platform: "posix" }));
  // @ts-expect-error: whether the user's are loaded must be said
  instructionPlaces({ platform: "posix", project: true, local: true });
  return [text, String(target?.isText), String(applies), ...problems, ...found.map(({ source, kind }) => source + kind)];
}

export async function sharing(signal: AbortSignal, secret: string | undefined): Promise<string> {
  const ask: TokenFunction = async ({ signal }) => (signal.aborted ? "" : "token");
  const options: TeamOptions = { url: "https://team.example", token: secret, repository: "acme/app", deletions: "propagate" };
  for (const team of [options, { token: ask }, { token: () => "token", url: null }, {}, null, undefined] as const) {
    await Memdir.open({ team });
  }
  // @ts-expect-error: a token is a text
  await Memdir.open({ team: { token: () => 5 } });
  // @ts-expect-error: whether there is a function shows by itself
  await Memdir.open({ team: { askToken: true } });
  // @ts-expect-error: no such choice
  await Memdir.open({ team: { deletions: "all" } });
  await using memory = await Memdir.open({ team: options });
  const { pull, push, sync }: Team = memory.team;
  const all: TeamSync[] = [await pull(), await push({ signal }), await sync()];
  const keys: string[] = all.flatMap(({ received, removed, sent, deleted, conflicts }) => [received, removed, sent, deleted, conflicts].flat());
  const status: TeamStatus = await memory.team.status();
  const kept: Conflict[] = [...status.conflicts, ...(await memory.team.conflicts({ signal }))];
  for (const { id, path, atMs, size } of kept) {
    const { content }: ConflictFile = await memory.team.conflict(id);
    const restored: WriteResult = await memory.team.restore(id, { signal });
    keys.push(path, `${atMs} ${size}`, content, restored.outcome);
    await memory.team.drop(id);
  }
  const watching: Promise<void> = memory.team.watch({ periodMs: 60_000, signal });
  // @ts-expect-error: a kept version is named
  await memory.team.drop();
  // @ts-expect-error: it is there from the beginning
  memory.team = { ...memory.team };
  await watching;
  return [...keys, status.repository ?? "", status.url?.length, status.syncedMs ?? 0, ...status.toSend].join();
}

export function teamRules(): TeamAction[] {
  const repository: string | null = teamRepository("git@example.com:acme/app.git");
  const actions: Record<string, TeamAction> = teamReconcile({}, { "a.md": repository ?? "" }, {}, {});
  const merged: MergedIndex = mergeTeamIndex(null, "", "");
  const pause: number = retryPauseMs(0, 255) + retryPauseMs(1, 0, merged.lost ? null : merged.content);
  // @ts-expect-error: what was forgotten must be said
  teamReconcile({}, {}, {});
  return pause > 0 ? Object.values(actions) : [];
}

export function shellRules(): string[] {
  const stages: ShellStage[] = readOnlyCommand("grep -rn memory notes | head");
  // @ts-expect-error: a command is one text
  readOnlyCommand(["ls", "notes"]);
  return stages.flatMap(({ argv, paths }) => [...argv, ...paths]);
}

export function pathRules(places: MemoryPlaces): string[] {
  const kind: PathKind = classifyPath("/srv/memory/a.md", places);
  const call: ToolClass = classifyToolCall("Read", JSON.stringify({ file_path: "/srv/memory/a.md" }), places);
  const findings: SecretFinding[] = scanSecrets(redactSecrets(validateTeamKey("a.md", ["b.md"])));
  // @ts-expect-error: what a secret is is not told
  findings[0]?.value;
  // @ts-expect-error: whether they are done must be said
  summariseToolCalls([call]);
  return mayWrite(kind, places) ? summariseToolCalls([call], true) : findings.map(({ rule, line }) => `${rule} ${line}`);
}

export function writingRules(changes: MemoryChanges): string {
  const entry: IndexEntry = { name: "role" };
  const memory: Edited = updateMemory(null, { ...changes, type: "user", modified: null });
  const index: Edited = updateIndex(null, "", memoryFileName("user", "role", 2), entry);
  // @ts-expect-error: whether there is an entry must be said
  updateIndex(index.content, "", "user_role_2.md");
  return updateIndex(index.content, "", memoryFileName("user", "role"), null).content + String(memory.changed);
}

export function recallRules(request: ModelRequest): string {
  const words: Word[] = tokenize("how do we deploy?");
  const memories: RankedMemory[] = [{ path: "a.md", text: words[0]?.whole ?? "" }, { path: "b.md", text: "", ageDays: 1, uses: 2 }];
  const ranked = rankMemories("x", memories).map(({ path, score }) => `${path} ${score}`);
  const cut: CutMemory = cutMemory("x", 1, "/srv/memory/a.md", grantBytes(0, [1])[0] ?? 0);
  const chosen: Selection = readSelection("[]", recentTools([{ tool: "Bash", ok: true }]));
  const http: ModelHttp = encodeModelRequest({ name: "openai/x" }, request);
  // @ts-expect-error: a role is one of two
  encodeModelRequest({ name: "openai/x" }, { ...request, messages: [{ role: "system", content: "" }] });
  return [...ranked, cut.note, ...chosen.dropped, decodeModelAnswer("openai/x", 200, http.body)].join();
}

export function rules(): ErrorCode | undefined {
  const cut: Truncation = truncateIndex("- [a](a.md)");
  const { enabled } = memoryEnabled({ A: undefined }, { user: parseSettings("{}").autoMemoryEnabled });
  const { directory } = chooseDirectory({ platform: "posix", env: {}, settings: { user: null }, projectRoot: "/p/q" });
  const flag: boolean | null = envFlag(String(enabled));
  const days: number = memoryAge({ mtimeMs: 0, nowMs: 1 }).days;
  lintMemories({ index: directory, memories: [{ path: `${days}.md`, text: String(flag) }] });
  const scope: "private" | "team" = defaultScope("user", { team: true });
  // @ts-expect-error: no such type
  defaultScope(scope, { team: true });
  const batches: Record<string, string>[] = batchEntries({ a: cut.content }, { maxBytes: 100 });
  try {
    validateMemoryPath(`${batches.length}`, { platform: "posix", home: null });
    // @ts-expect-error: no such platform
    validateMemoryPath("/a/b", { platform: "linux" });
  } catch (error) {
    if (isMemdirError(error)) {
      const same: MemdirError = error;
      return same.code;
    }
  }
  return undefined;
}
