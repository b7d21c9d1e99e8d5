// A TypeScript program; it is compiled, never run.
import { Memdir, MemdirError } from "memdir";
import { projectSlug } from "memdir/rules";

const memory: Memdir = await Memdir.open({ directory: "/srv/memory" });
const { memories, report } = await memory.scan({ signal: AbortSignal.timeout(1000) });
for (const header of memories) {
  const path: string = header.path;
  const name: string | null = header.name;
  const changed: number = header.mtimeMs;
  console.log(path, name, changed);
}
const project: Memdir = await Memdir.open({
  cwd: "/srv/project",
  env: { CLAUDE_CONFIG_DIR: "/srv/config" },
  settings: { autoMemoryEnabled: true },
  features: { oneStep: true },
});
const key: string | null = project.opened.projectKey;
const remedies: string[] = (await project.lint()).findings.map((finding) => finding.remedy);
project.compacted();
console.log(key, remedies);
const codes: string[] = report.map((entry) => entry.code);
const prompt: string | null = await memory.prompt({ pastContext: true, guidelines: ["Be kind."] });
const slug: string = projectSlug("/home/ines/ingest");
console.log(codes, prompt, slug, memory.directory);

// @ts-expect-error a misspelled option does not compile
await Memdir.open({ directry: "/srv/memory" });

try {
  await memory.close();
} catch (error) {
  if (error instanceof MemdirError) console.log(error.code);
}
