// The same rules for `import`: one implementation, two module systems.

export {
  batchEntries,
  chooseDirectory,
  defaultScope,
  envFlag,
  errorTable,
  formatManifest,
  injectiveKey,
  lintMemories,
  memoryAge,
  memoryEnabled,
  parseFrontmatter,
  parseSettings,
  projectSlug,
  teamDelta,
  truncateIndex,
  validateMemoryPath,
} from "./rules.js";
export type * from "./types.js";
