// Reads all files of a folder and looks for secrets in each; prints how many there are.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { scanSecrets } from "../bindings-js/dist/rules.mjs";

const folder = process.argv[2];
let found = 0;
for (const name of readdirSync(folder)) {
  found += scanSecrets(readFileSync(join(folder, name), "utf8")).length;
}
console.log(found);
