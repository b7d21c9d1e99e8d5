// The types compile for programs of both module systems, in a project that has neither the types of
// Node nor `skipLibCheck`; and beside the SDK, whose own types need both.

import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const STRICT = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,esnext.disposable,dom", "--types", ""];

for (const [module, resolution, files, ...more] of [
  ["nodenext", "nodenext", ["test/types/consumer.mts", "test/types/consumer.cts"]],
  ["esnext", "bundler", ["test/types/consumer.mts"]],
  ["nodenext", "nodenext", ["test/types/sdk.mts"], "--skipLibCheck", "--types", "node"],
]) {
  test(`types: ${resolution}, ${files}`, () => {
    const options = [...STRICT, "--module", module, "--moduleResolution", resolution, "--ignoreConfig", ...more];
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", ...options, ...files], { cwd: PACKAGE, stdio: "inherit" });
  });
}
