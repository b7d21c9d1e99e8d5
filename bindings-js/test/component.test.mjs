// The vectors once more, through the WASI component as jco makes it usable in Node. The build of the
// component leaves it in dist/ at the root of the repository.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { runVectors } from "./support/vectors.mjs";

const COMPONENT = fileURLToPath(new URL("../../dist/memdir-core.wasm", import.meta.url));
const JCO = fileURLToPath(new URL("../node_modules/@bytecodealliance/jco/dist/jco.js", import.meta.url));

if (existsSync(COMPONENT)) {
  const rules = await transpiled();
  runVectors(
    {
      batch_entries: ({ entries, maxBytes }) =>
        rules.batchEntries(Object.entries(entries), maxBytes ?? undefined).map(Object.fromEntries),
      choose_directory: ({ env, home, settings, ...rest }) =>
        withNulls(
          rules.chooseDirectory({ ...rest, home: home ?? undefined, env: Object.entries(env), settings: withoutNulls(settings) }),
        ),
      classify_path: ({ path, places }) => rules.classifyPath(path, withoutNulls(places)),
      classify_tool_call: ({ name, input, places }) => withNulls(rules.classifyToolCall(name, input, withoutNulls(places))),
      compaction_cut: (question) => compactionOut(rules.compactionCut(questionIn(question))),
      cut_memory: ({ text, size, path, maxBytes }) =>
        withNulls(rules.cutMemory(text, BigInt(size), path, BigInt(maxBytes))),
      conversation_text: ({ messages }) => rules.conversationText(messages.map(messageIn)),
      decide_dream: ({ gate }) => rules.decideDream(dreamGateIn(gate)) ?? null,
      decide_extraction: ({ messages, state, gate }) =>
        decisionOut(rules.decideExtraction(messages.map(messageIn), withoutNulls(state), gateIn(gate))),
      decode_model_answer: ({ name, status, body }) => rules.decodeModelAnswer(name, status, body),
      decode_tool_answer: ({ name, status, body }) => answerOut(rules.decodeToolAnswer(name, status, body)),
      default_scope: ({ type, team }) => rules.defaultScope(type ?? undefined, team),
      encode_model_request: ({ model, request }) => rules.encodeModelRequest(withoutNulls(model), requestIn(request)),
      encode_tool_request: ({ model, request }) => rules.encodeToolRequest(withoutNulls(model), toolRequestIn(request)),
      env_flag: ({ value }) => rules.envFlag(value ?? undefined) ?? null,
      estimate_tokens: ({ text }) => Number(rules.estimateTokens(text)),
      fill_template: ({ text, values }) => rules.fillTemplate(text, values),
      format_manifest: ({ memories }) => rules.formatManifest(memories.map(headerIn)),
      grant_bytes: ({ used, sizes }) =>
        Array.from(rules.grantBytes(BigInt(used), BigUint64Array.from(sizes, BigInt)), Number),
      injective_key: ({ path }) => rules.injectiveKey(path),
      instruction_places: (question) => rules.instructionPlaces(placesIn(question)).map(withNulls),
      instructions_excluded: ({ patterns, paths, platform }) => rules.instructionsExcluded(patterns, paths, platform),
      lint_memories: (input) => rules.lintMemories(withoutNulls(input)).map(withNulls),
      lock_is_held: ({ nowMs, mtimeMs, ...rest }) =>
        rules.lockIsHeld({ ...withoutNulls(rest), nowMs: BigInt(nowMs), mtimeMs: BigInt(mtimeMs) }),
      may_write: ({ path, places }) => rules.mayWrite(path, withoutNulls(places)),
      measure_notes: ({ text }) => measureOut(rules.measureNotes(text)),
      memory_age: ({ mtimeMs, modifiedMs, nowMs }) =>
        ageOut(rules.memoryAge(BigInt(mtimeMs), bigOrNone(modifiedMs), BigInt(nowMs))),
      memory_enabled: ({ env, settings }) => rules.memoryEnabled(Object.entries(env), withoutNulls(settings)),
      memory_file_name: ({ type, name, number }) => rules.memoryFileName(type, name, number),
      merge_team_index: ({ base, local, server }) => rules.mergeTeamIndex(base ?? undefined, local, server),
      notes_are_empty: ({ text, template }) => rules.notesAreEmpty(text, template),
      parse_frontmatter: ({ text }) => frontmatterOut(rules.parseFrontmatter(text)),
      parse_instructions: ({ text }) => withNulls({ paths: null, ...rules.parseInstructions(text) }),
      parse_settings: ({ text }) => settingsOut(rules.parseSettings(text)),
      parse_transcript: ({ text }) => transcriptOut(rules.parseTranscript(text)),
      project_slug: ({ path }) => rules.projectSlug(path),
      rank_memories: ({ query, memories }) =>
        rules.rankMemories(query, memories.map((memory) => ({ ageDays: 0, uses: 0, ...memory }))),
      read_only_command: ({ command }) => rules.readOnlyCommand(command),
      read_selection: ({ answer, candidates }) => rules.readSelection(answer, candidates),
      recent_tools: ({ results }) => rules.recentTools(results.map(withoutNulls)),
      resolve_import: ({ target, file, home, platform }) =>
        rules.resolveImport(target, file, home ?? undefined, platform) ?? null,
      retry_pause_ms: ({ retries, random, retryAfter }) =>
        Number(rules.retryPauseMs(retries, random, retryAfter ?? undefined)),
      rule_applies: ({ patterns, path }) => rules.ruleApplies(patterns, path),
      session_notes_due: (question) => rules.sessionNotesDue(dueIn(question)),
      summarise_tool_calls: ({ calls, done }) => rules.summariseToolCalls(calls.map(withoutNulls), done),
      team_delta: ({ local, server }) =>
        Object.fromEntries(rules.teamDelta(Object.entries(local), Object.entries(server))),
      team_reconcile: (sides) =>
        Object.fromEntries(
          rules.teamReconcile(...["base", "local", "server", "forgotten"].map((side) => Object.entries(sides[side]))),
        ),
      team_repository: ({ remote }) => rules.teamRepository(remote) ?? null,
      tokenize: ({ text }) => rules.tokenize(text).map(withNulls),
      truncate_index: ({ text }) => withNulls(rules.truncateIndex(text)),
      update_index: ({ text, folder, path, entry }) =>
        rules.updateIndex(text ?? undefined, folder, path, entry === null ? undefined : withoutNulls(entry)),
      update_memory: ({ text, changes }) => rules.updateMemory(text ?? undefined, withoutNulls(changes)),
      validate_memory_path: ({ path, platform, home }) => rules.validateMemoryPath(path, platform, home ?? undefined),
      validate_team_key: ({ key, others }) => rules.validateTeamKey(key, others),
    },
    (error) => error.payload?.code ?? error,
  );
} else {
  test("the component", () => {
    assert.fail("dist/memdir-core.wasm is missing, so the component was not tested: run `make build`");
  });
}

async function transpiled() {
  const folder = mkdtempSync(join(tmpdir(), "memdir-jco-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync(process.execPath, [JCO, "transpile", COMPONENT, "--quiet", "--name", "component", "--out-dir", folder]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // The decoder of jco's glue takes a byte order mark at the start of a text for itself.
  const glue = join(folder, "component.js");
  const decoder = "new TextDecoder()";
  const source = readFileSync(glue, "utf8");
  assert.ok(source.includes(decoder));
  writeFileSync(glue, source.replaceAll(decoder, 'new TextDecoder("utf-8", { ignoreBOM: true })'));
  const { rules } = await import(pathToFileURL(glue));
  return rules;
}

function headerIn({ name, description, type, modifiedMs, mtimeMs, size, ...rest }) {
  return {
    ...rest,
    name: name ?? undefined,
    description: description ?? undefined,
    type: type ?? undefined,
    modifiedMs: bigOrNone(modifiedMs),
    mtimeMs: BigInt(mtimeMs),
    size: BigInt(size),
  };
}

// JSON crosses as text.
function requestIn({ schema, ...rest }) {
  return { ...rest, schema: (schema ?? null) === null ? undefined : JSON.stringify(schema) };
}

function toolRequestIn({ tools, ...rest }) {
  const schemaIn = (tool) => ({ ...tool, inputSchema: JSON.stringify(tool.inputSchema) });
  return { ...withoutNulls(rest), tools: tools.map(schemaIn) };
}

function messageIn({ content, isMeta, tokens, ...rest }) {
  const said = { content: JSON.stringify(content), isMeta: isMeta ?? false, tokens: bigOrNone(tokens) };
  return { ...withoutNulls(rest), ...said };
}

function gateIn({ places, ...rest }) {
  return { ...rest, places: places === null ? undefined : withoutNulls(places) };
}

function decisionOut({ state, ...rest }) {
  return { reason: null, last: null, ...withNulls(rest), state: { cursor: null, ...withNulls(state) } };
}

function dueIn({ tokens, lastTokens, toolCalls, ...rest }) {
  const numbers = { tokens: BigInt(tokens), toolCalls: BigInt(toolCalls), lastTokens: bigOrNone(lastTokens) };
  return { naturalBreak: false, lastTurnCalls: false, ...rest, ...numbers };
}

function dreamGateIn({ nowMs, lastMs, countedMs, ...rest }) {
  const times = { nowMs: BigInt(nowMs), lastMs: bigOrNone(lastMs), countedMs: bigOrNone(countedMs) };
  return { ...withoutNulls(rest), ...times };
}

function placesIn(question) {
  return { managed: [], additional: [], agentsMd: false, ...withoutNulls(question) };
}

function questionIn({ messages, ...rest }) {
  return { ...withoutNulls(rest), messages: messages.map(messageIn) };
}

function compactionOut({ tokens, notes, keepFrom, reason }) {
  return { ...withNulls({ notes, keepFrom, reason }), tokens: Number(tokens) };
}

function measureOut({ tokens, sections, isOver }) {
  const sectionOut = (section) => ({ ...section, tokens: Number(section.tokens) });
  return { tokens: Number(tokens), sections: sections.map(sectionOut), isOver };
}

function bigOrNone(number) {
  return (number ?? null) === null ? undefined : BigInt(number);
}

function answerOut({ usage, ...rest }) {
  return { ...rest, usage: Object.fromEntries(Object.entries(usage).map(([key, count]) => [key, Number(count)])) };
}

function transcriptOut({ messages, leftOut, report }) {
  const messageOut = ({ id, role, content, isMeta, tokens }) => ({
    ...{ id: id ?? null, role, content: JSON.parse(content), isMeta },
    tokens: tokens === undefined ? null : Number(tokens),
  });
  return { messages: messages.map(messageOut), leftOut: Number(leftOut), report };
}

function frontmatterOut({ modifiedMs, problems, ...rest }) {
  const number = modifiedMs === undefined ? null : Number(modifiedMs);
  return { ...withNulls(rest), modifiedMs: number, problems: problems.map(withNulls) };
}

function ageOut({ days, ...rest }) {
  return { ...withNulls(rest), days: Number(days) };
}

function settingsOut({ problems, ...rest }) {
  return { ...withNulls(rest), problems: problems.map(withNulls) };
}

function withoutNulls(record) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, value ?? undefined]));
}

function withNulls(record) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, value ?? null]));
}
