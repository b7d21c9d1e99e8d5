// Compiled, never run: the types as a program sees them that requires the package.

import memdir = require("memdir");
import rules = require("memdir/rules");

export async function example(): Promise<number> {
  const memory: memdir.Memdir = await memdir.Memdir.open({ directory: "/srv/memory" });
  const scan: memdir.Scan = await memory.scan();
  const recall: memdir.Recall = await memory.recall("how do we deploy?");
  const words: memdir.Word[] = rules.tokenize(recall.render());
  console.log(words.length);
  await memory.close();
  return rules.formatManifest(scan.memories).length;
}
