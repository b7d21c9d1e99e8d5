"""One of several processes that write to one store: writer.py MEMDIR.cwasm STORE NAME COUNT

Saves COUNT memories of its own, forgets every third of them, and before that tries to be the first
to save `race.md`. Prints what came of each as a JSON list.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from program import Program


def main(compiled: str, store: str, name: str, count: str) -> None:
    program = Program(Path(compiled))
    results = []

    def run(*arguments: str, body: str = "") -> str:
        ran = program.run(
            *arguments, "--json", "--dir", store, stdin=body.encode(), folders=[Path(store)]
        )
        # Of an error there is nothing on stdout.
        result = json.loads(ran.stdout or "{}") | {"exit": ran.code, "stderr": ran.stderr}
        results.append(result)
        return result.get("path") or ""

    save = ["save", "--type", "project", "--description", f"What {name} knows"]
    race = ["--path", "race.md", "--name", f"Race of {name}", "--expect", "absent"]
    run(*save, *race, body=name)
    for number in range(int(count)):
        path = run(*save, "--name", f"Note {number} of {name}", body=f"Number {number}.")
        if number % 3 == 2:
            run("forget", path)
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
