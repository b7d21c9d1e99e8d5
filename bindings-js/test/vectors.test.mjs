// The vectors, through `memdir/rules`.

import * as rules from "memdir/rules";
import { runVectors } from "./support/vectors.mjs";

runVectors(
  {
    batch_entries: ({ entries, maxBytes }) => rules.batchEntries(entries, { maxBytes }),
    choose_directory: (question) => rules.chooseDirectory(question),
    classify_path: ({ path, places }) => rules.classifyPath(path, places),
    classify_tool_call: ({ name, input, places }) => rules.classifyToolCall(name, input, places),
    cut_memory: ({ text, size, path, maxBytes }) => rules.cutMemory(text, size, path, maxBytes),
    decode_model_answer: ({ name, status, body }) => rules.decodeModelAnswer(name, status, body),
    default_scope: ({ type, team }) => rules.defaultScope(type, { team }),
    encode_model_request: ({ model, request }) => rules.encodeModelRequest(model, request),
    env_flag: ({ value }) => rules.envFlag(value),
    format_manifest: ({ memories }) => rules.formatManifest(memories),
    grant_bytes: ({ used, sizes }) => rules.grantBytes(used, sizes),
    injective_key: ({ path }) => rules.injectiveKey(path),
    lint_memories: (input) => rules.lintMemories(input),
    may_write: ({ path, places }) => rules.mayWrite(path, places),
    memory_age: (times) => rules.memoryAge(times),
    memory_enabled: ({ env, settings }) => rules.memoryEnabled(env, settings),
    memory_file_name: ({ type, name, number }) => rules.memoryFileName(type, name, number),
    parse_frontmatter: ({ text }) => rules.parseFrontmatter(text),
    parse_settings: ({ text }) => rules.parseSettings(text),
    project_slug: ({ path }) => rules.projectSlug(path),
    rank_memories: ({ query, memories }) => rules.rankMemories(query, memories),
    read_selection: ({ answer, candidates }) => rules.readSelection(answer, candidates),
    recent_tools: ({ results }) => rules.recentTools(results),
    summarise_tool_calls: ({ calls, done }) => rules.summariseToolCalls(calls, done),
    team_delta: ({ local, server }) => rules.teamDelta(local, server),
    tokenize: ({ text }) => rules.tokenize(text),
    truncate_index: ({ text }) => rules.truncateIndex(text),
    update_index: ({ text, folder, path, entry }) => rules.updateIndex(text, folder, path, entry),
    update_memory: ({ text, changes }) => rules.updateMemory(text, changes),
    validate_memory_path: ({ path, platform, home }) => rules.validateMemoryPath(path, { platform, home }),
    validate_team_key: ({ key, others }) => rules.validateTeamKey(key, others),
  },
  (error) => error.code,
);
