// The same package for `import`: one implementation and one class identity, two module systems.

export { isMemdirError, Memdir, MemdirError } from "./index.js";
export type { MemoryToolCommands, MemoryToolHandlers } from "./tool.js";
export type * from "./types.js";
