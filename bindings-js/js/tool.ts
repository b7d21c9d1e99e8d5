// The memory tool of Anthropic's Messages API, in the form that its SDK takes. What the commands do is
// the core's; here each only gets its name.

import * as check from "./check.js";

/** One command's arguments, in the names of the Messages API; the model's own JSON. */
export interface MemoryToolCommands {
  /** Shows a file with line numbers, or two levels of a folder. */
  view: {
    /** `/memories`, or a file or folder in it. */
    path: string;
    /** First and last line, from 1; -1 is the last one. The whole file unless it is given. */
    view_range?: number[] | null | undefined;
  };
  /** Writes a new file. */
  create: {
    /** A file in `/memories` that is not there yet. */
    path: string;
    /** All of its text. */
    file_text: string;
  };
  /** Replaces a text that stands in a file exactly once. */
  str_replace: {
    /** A file in `/memories`. */
    path: string;
    /** What is replaced. */
    old_str: string;
    /** What stands there instead; nothing unless it is given. */
    new_str?: string | null | undefined;
  };
  /** Inserts lines. */
  insert: {
    /** A file in `/memories`. */
    path: string;
    /** The line after which they go; 0 for the beginning. */
    insert_line: number;
    /** The lines. */
    insert_text: string;
  };
  /** Takes a file away, or a folder with all that is in it. */
  delete: {
    /** A file or a folder in `/memories`, not itself. */
    path: string;
  };
  /** Gives a file or a folder another name. */
  rename: {
    /** What is there. */
    old_path: string;
    /** What is not there yet. */
    new_path: string;
  };
}

/** One function for each command, as `betaMemoryTool` of `@anthropic-ai/sdk` takes them. */
export type MemoryToolHandlers = {
  [Name in keyof MemoryToolCommands]: (command: MemoryToolCommands[Name]) => Promise<string>;
};

/** Handlers that give each command as JSON text to `run`. */
export function toolHandlers(run: (input: string) => Promise<string>): MemoryToolHandlers {
  const handler = (name: keyof MemoryToolCommands) => async (command: object) =>
    run(check.json({ ...command, command: name }, "command"));
  return {
    view: handler("view"),
    create: handler("create"),
    str_replace: handler("str_replace"),
    insert: handler("insert"),
    delete: handler("delete"),
    rename: handler("rename"),
  };
}
