// Compiled, never run: the types as a program sees them that imports the package.

import {
  isMemdirError,
  Memdir,
  MemdirError,
  type ErrorCode,
  type Finding,
  type MemoryHeader,
  type Opened,
  type Scan,
} from "memdir";
import {
  batchEntries,
  chooseDirectory,
  defaultScope,
  envFlag,
  lintMemories,
  memoryAge,
  memoryEnabled,
  parseSettings,
  truncateIndex,
  validateMemoryPath,
  type Truncation,
} from "memdir/rules";

export async function example(signal: AbortSignal): Promise<string[]> {
  await using memory = await Memdir.open({
    directory: "/srv/memory",
    cwd: null,
    home: "/home/me",
    env: { CLAUDE_CONFIG_DIR: "/srv/config", CLAUDE_CODE_SIMPLE: undefined },
    settings: { autoMemoryEnabled: true, other: [1] },
    platform: "posix",
    features: { oneStep: true, extractEvery: 2 },
    onEvent: (event) => console.log(event.kind, event.path?.length, event.message),
    model: async (request, { signal }) => (signal.aborted ? "" : request),
  });
  const directory: string = memory.directory;
  const enabled: boolean = memory.enabled;
  const opened: Opened = memory.opened;
  const why: string[] = [opened.because, opened.chosenBy, ...opened.refused.map(({ source, code }) => source + code)];
  const scan: Scan = await memory.scan({ signal });
  const prompt: string | null = await memory.prompt({ index: false, pastContext: true, guidelines: why });
  const { findings } = await memory.lint({ signal });
  const worst: Finding | undefined = findings.find(({ severity }) => severity === "error");
  memory.compacted();
  const manifest: string = await memory.manifest();
  const { header, content } = await memory.read("a.md");
  const headers: MemoryHeader[] = [...scan.memories, header];
  for (const { code } of scan.report) {
    switch (code) {
      case "over-limit":
      case "link-outside":
        break;
    }
  }
  // @ts-expect-error: a header has no such field
  headers[0]?.title;
  await Memdir.open();
  // @ts-expect-error: settings are an object, not JSON
  await Memdir.open({ settings: "{}" });
  // @ts-expect-error: there is no such feature
  await Memdir.open({ features: { twoSteps: true } });
  // @ts-expect-error: stores are opened, not constructed
  new Memdir();
  return [directory, String(enabled), String(prompt), manifest, content, String(worst?.line)];
}

export function rules(): ErrorCode | undefined {
  const cut: Truncation = truncateIndex("- [a](a.md)");
  const { enabled } = memoryEnabled({ A: undefined }, { user: parseSettings("{}").autoMemoryEnabled });
  const { directory } = chooseDirectory({ platform: "posix", env: {}, settings: { user: null }, projectRoot: "/p/q" });
  const flag: boolean | null = envFlag(String(enabled));
  const days: number = memoryAge({ mtimeMs: 0, nowMs: 1 }).days;
  lintMemories({ index: directory, memories: [{ path: `${days}.md`, text: String(flag) }] });
  const scope: "private" | "team" = defaultScope("user", { team: true });
  // @ts-expect-error: no such type
  defaultScope(scope, { team: true });
  const batches: Record<string, string>[] = batchEntries({ a: cut.content }, { maxBytes: 100 });
  try {
    validateMemoryPath(`${batches.length}`, { platform: "posix", home: null });
    // @ts-expect-error: no such platform
    validateMemoryPath("/a/b", { platform: "linux" });
  } catch (error) {
    if (isMemdirError(error)) {
      const same: MemdirError = error;
      return same.code;
    }
  }
  return undefined;
}
