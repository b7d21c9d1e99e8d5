"""One of many writers, each save a command under wasmtime.

argv: how a command is run, the store, the writer's name, how often. Prints the path of each memory
that it was told is written.
"""

import json
import subprocess
import sys

*command, directory, writer, count = sys.argv[1:]
for number in range(int(count)):
    name = f"{writer} {number}"
    scope = "private" if number % 2 == 0 else "team"
    words = ["save", "--json", "--dir", directory, "--type", "project", "--name", name]
    words += ["--description", f"of {name}", "--scope", scope]
    done = subprocess.run(
        [*command, *words], input=f"Body of {name}.", capture_output=True, encoding="utf-8"
    )
    saved = json.loads(done.stdout) if done.returncode == 0 else {"outcome": done.stderr}
    if saved["outcome"] != "written":
        raise SystemExit(f"{name}: {saved['outcome']}")
    print(saved["path"], flush=True)
