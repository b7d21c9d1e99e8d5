// How far the estimate of tokens is from two tokenizers, and how far the length by four:
//   node benches/tokens.mjs english=a.txt,b.txt chinese=c.md …
// Prints for each kind the number of pieces, the mean of the errors without their signs, and the largest ones.
import { execFileSync } from "node:child_process";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";

const plain = { disallowedSpecial: new Set() };
const percent = (part) => `${(part * 100).toFixed(1)}%`;

for (const argument of process.argv.slice(2)) {
  const [kind, files] = argument.split("=");
  const run = ["run", "--quiet", "-p", "memdir-benches", "--", "tokens", ...files.split(",")];
  const said = execFileSync("cargo", run, { encoding: "utf8", maxBuffer: 2 ** 30 });
  const pieces = said.trim().split("\n").map((line) => JSON.parse(line));
  for (const [name, count] of Object.entries({ o200k, cl100k })) {
    const ways = { estimate: (piece) => piece.estimate, "length / 4": (piece) => piece.text.length / 4 };
    for (const [way, guess] of Object.entries(ways)) {
      const errors = pieces.map((piece) => guess(piece) / count(piece.text, plain) - 1).sort((a, b) => a - b);
      const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
      const row = [kind, name, way, `${errors.length} pieces`, percent(mean), percent(errors[0]), percent(errors.at(-1))];
      console.log(row.join(" | "));
    }
  }
}
