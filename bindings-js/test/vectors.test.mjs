// The vectors, through `memdir/rules`.

import * as rules from "memdir/rules";
import { runVectors } from "./support/vectors.mjs";

runVectors(
  {
    batch_entries: ({ entries, maxBytes }) => rules.batchEntries(entries, { maxBytes }),
    format_manifest: ({ memories }) => rules.formatManifest(memories),
    parse_frontmatter: ({ text }) => rules.parseFrontmatter(text),
    project_slug: ({ path }) => rules.projectSlug(path),
    team_delta: ({ local, server }) => rules.teamDelta(local, server),
    truncate_index: ({ text }) => rules.truncateIndex(text),
    validate_memory_path: ({ path, platform, home }) => rules.validateMemoryPath(path, { platform, home }),
  },
  (error) => error.code,
);
