// Compiled, never run: the types as a program sees them that imports the package.

import { isMemdirError, Memdir, MemdirError, type ErrorCode, type MemoryHeader, type Scan } from "memdir";
import { batchEntries, truncateIndex, validateMemoryPath, type Truncation } from "memdir/rules";

export async function example(signal: AbortSignal): Promise<string[]> {
  await using memory = await Memdir.open({
    directory: "/srv/memory",
    onEvent: (event) => console.log(event.kind, event.path?.length, event.message),
    model: async (request, { signal }) => (signal.aborted ? "" : request),
  });
  const directory: string = memory.directory;
  const enabled: boolean = memory.enabled;
  const scan: Scan = await memory.scan({ signal });
  const prompt: string | null = await memory.prompt({ index: false });
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
  // @ts-expect-error: the directory is required
  await Memdir.open({});
  // @ts-expect-error: stores are opened, not constructed
  new Memdir();
  return [directory, String(enabled), String(prompt), manifest, content];
}

export function rules(): ErrorCode | undefined {
  const cut: Truncation = truncateIndex("- [a](a.md)");
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
