// A CommonJS module that uses the package; argv: the store. Prints JSON.
const { Memdir } = require("memdir");
const { projectSlug } = require("memdir/rules");

(async () => {
  const memory = await Memdir.open({ directory: process.argv[2] });
  const { memories } = await memory.scan();
  await memory.close();
  const paths = memories.map(({ path }) => path);
  const slug = projectSlug("/home/ines/ingest");
  const oneClass = Memdir === (await import("memdir")).Memdir;
  console.log(JSON.stringify({ paths, slug, oneClass }));
})();
