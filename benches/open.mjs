// Times new Node processes: an empty one, and one that opens a store. Prints [[name, median ms], ...].
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const folder = process.argv[2];
const entry = fileURLToPath(new URL("../bindings-js/dist/index.mjs", import.meta.url));
const opening = `import { Memdir } from ${JSON.stringify(entry)}; await Memdir.open({ directory: ${JSON.stringify(folder)} });`;
const ways = [
  ["node, an empty program", ["--input-type=module", "--eval", ""]],
  ["node, a program that opens a store", ["--input-type=module", "--eval", opening]],
];
const samples = ways.map(() => []);
for (let round = 0; round < 20; round += 1) {
  for (const [index, [, args]] of ways.entries()) {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args);
    if (status !== 0) throw new Error(String(stderr));
    samples[index].push(performance.now() - start);
  }
}
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
console.log(JSON.stringify(ways.map(([name], index) => [name, median(samples[index])])));
