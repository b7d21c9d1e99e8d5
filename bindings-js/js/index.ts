// The package `memdir`: what can be imported from it.

export { isMemdirError, MemdirError } from "./errors.js";
export { Memdir } from "./memdir.js";
export type { MemoryToolCommands, MemoryToolHandlers } from "./tool.js";
export type * from "./types.js";
