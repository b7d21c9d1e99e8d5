// The same rules for `import`: one implementation, two module systems.

export {
  batchEntries,
  errorTable,
  formatManifest,
  parseFrontmatter,
  projectSlug,
  teamDelta,
  truncateIndex,
  validateMemoryPath,
} from "./rules.js";
export type * from "./types.js";
