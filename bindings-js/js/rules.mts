// The same rules for `import`: one implementation, two module systems.

export {
  batchEntries,
  chooseDirectory,
  cutMemory,
  decodeModelAnswer,
  defaultScope,
  encodeModelRequest,
  envFlag,
  errorTable,
  formatManifest,
  grantBytes,
  injectiveKey,
  lintMemories,
  memoryAge,
  memoryEnabled,
  parseFrontmatter,
  parseSettings,
  projectSlug,
  rankMemories,
  readSelection,
  recentTools,
  teamDelta,
  tokenize,
  truncateIndex,
  validateMemoryPath,
} from "./rules.js";
export type * from "./types.js";
