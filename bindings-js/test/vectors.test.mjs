// The vectors, through `memdir/rules`.

import * as rules from "memdir/rules";
import { runVectors } from "./support/vectors.mjs";

runVectors(
  {
    batch_entries: ({ entries, maxBytes }) => rules.batchEntries(entries, { maxBytes }),
    choose_directory: (question) => rules.chooseDirectory(question),
    default_scope: ({ type, team }) => rules.defaultScope(type, { team }),
    env_flag: ({ value }) => rules.envFlag(value),
    format_manifest: ({ memories }) => rules.formatManifest(memories),
    injective_key: ({ path }) => rules.injectiveKey(path),
    lint_memories: (input) => rules.lintMemories(input),
    memory_age: (times) => rules.memoryAge(times),
    memory_enabled: ({ env, settings }) => rules.memoryEnabled(env, settings),
    parse_frontmatter: ({ text }) => rules.parseFrontmatter(text),
    parse_settings: ({ text }) => rules.parseSettings(text),
    project_slug: ({ path }) => rules.projectSlug(path),
    team_delta: ({ local, server }) => rules.teamDelta(local, server),
    truncate_index: ({ text }) => rules.truncateIndex(text),
    validate_memory_path: ({ path, platform, home }) => rules.validateMemoryPath(path, { platform, home }),
  },
  (error) => error.code,
);
