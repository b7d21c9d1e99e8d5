"""A blocking program; argv: the store. Prints JSON."""

import json
import sys

import memdir
import memdir.rules

with memdir.Memdir(directory=sys.argv[1]) as memory:
    scan = memory.scan()
    prompt = memory.prompt()
    manifest = memory.manifest()
    first = memory.read(scan.memories[0].path)
    findings = memory.lint().findings

code = ""
try:
    memdir.Memdir(directory="relative")
except memdir.MemdirError as error:
    code = error.code

print(
    json.dumps(
        {
            "paths": [header.path for header in scan.memories],
            "reported": [entry.path for entry in scan.report],
            "read": str(scan.memories[0].name) in str(first),
            "chosenBy": memory.opened.chosen_by,
            "findings": [finding.path for finding in findings],
            "prompt": type(prompt).__name__,
            "manifestLines": len(manifest.rstrip("\n").split("\n")),
            "slug": memdir.rules.project_slug("/home/ines/ingest"),
            "code": code,
        }
    )
)
