// One of many writers; argv: the store, the writer's name, how often (0: for ever). Prints the path of
// each memory that it was told is written.
import { Memdir } from "memdir";

const [directory, writer, count] = process.argv.slice(2);
const memory = await Memdir.open({ directory });
const shared = "project_shared.md";

for (let number = 0; Number(count) === 0 || number < Number(count); number++) {
  const name = `${writer} ${number}`;
  if (number % 3 === 2) {
    await addLine(name);
  } else {
    const scope = number % 3 === 0 ? "private" : "team";
    const options = { type: "project", name, description: `of ${name}`, body: `Body of ${name}.`, scope };
    told((await memory.save(options)).path, "written");
  }
}
await memory.close();

/** Adds a line to a memory that every writer changes: reads it again when somebody was faster. */
async function addLine(line) {
  for (;;) {
    const { body, hash } = await memory.read(shared);
    const { outcome } = await memory.save({ path: shared, body: `${body}\n- ${line}`, expect: hash });
    if (outcome !== "conflict") {
      told(line, outcome);
      return;
    }
  }
}

function told(what, outcome) {
  if (outcome !== "written") {
    throw new Error(`${what}: ${outcome}`);
  }
  process.stdout.write(`${what}\n`);
}
