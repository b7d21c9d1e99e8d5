"""A scan by memdir-core.wasm: python scan.py memdir-core.wasm FOLDER; with a QUERY, a recall.

The component does no I/O, so this program performs what the two ask for: it lists folders, reads
files and tells the time. Links, which it does not follow, are in the report.
"""

import os
import stat
import sys
import time
from pathlib import Path

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker, Record, Variant

KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


def main(core_wasm, folder, query=None):
    core = Core(core_wasm)
    store = core.call("flows", "[constructor]store", options(folder))
    if query is None:
        found = core.run(core.call("flows", "[method]store.scan", store))
        print(core.call("rules", "format-manifest", found.memories))
    else:
        found = core.run(core.call("flows", "[method]store.recall", store, query, recall_options()))
        print("\n\n".join(memory.text for memory in found.memories))
    for entry in found.report:
        print(f"{entry.path}: {entry.message}", file=sys.stderr)


def options(folder):
    """That folder is the store, whatever the environment says, and nothing is switched on."""
    features = record(
        team=False,
        extract=False,
        extract_non_interactive=False,
        one_step=False,
        daily_log=False,
        dream=False,
        extract_every=1,
        count_uses=False,
    )
    return record(
        directory=folder,
        cwd=None,
        home=None,
        env=[],
        settings=None,
        platform=None,
        model=None,
        agent=None,
        team=None,
        features=features,
    )


def recall_options():
    """The first recall of a conversation, by words."""
    return record(
        limit=None,
        strategy="lexical",
        recent_tools=[],
        tool_results=[],
        surfaced=[],
        already_read=[],
        state=record(surfaced=[], bytes=0),
    )


class Core:
    """One instance of the component. It imports nothing, so nothing is linked."""

    def __init__(self, path):
        engine = Engine()
        self.store = Store(engine)
        component = Component.from_file(engine, path)
        self.instance = Linker(engine).instantiate(self.store, component)

    def call(self, interface, name, *arguments):
        find = self.instance.get_export_index
        outer = find(self.store, f"memdir:memdir/{interface}@0.1.0")
        function = self.instance.get_func(self.store, find(self.store, name, outer))
        return function(self.store, *arguments)

    def run(self, flow):
        """Every effect of a step is answered before the next resume; `emit` has no answer."""
        responses = []
        while True:
            step = self.call("flows", "[method]flow.resume", flow, responses)
            if step.tag == "failed":
                raise SystemExit(f"{step.payload.code}: {step.payload.message}")
            if step.tag == "done":
                return step.payload.value.payload
            requests = [each for each in step.payload.requests if each.effect.tag != "emit"]
            responses = [record(id=each.id, outcome=perform(each.effect)) for each in requests]


def perform(effect):
    match effect.tag:
        case "host-info":
            return Variant("host-info", record(host_id="me", pid=None, platform="posix"))
        case "now":
            return Variant("now", record(ms=time.time_ns() // 1_000_000, offset_minutes=0))
        case "list":
            try:
                entries = [entry(found) for found in os.scandir(effect.payload.path)]
            except OSError as error:
                return failed("other", str(error))
            return Variant("listing", record(entries=entries, incomplete=False))
        case "read-many":
            heads = [read(path, 0, effect.payload.length) for path in effect.payload.paths]
            return Variant("heads", record(heads=heads))
        case "read":
            return read(effect.payload.path, effect.payload.offset, effect.payload.length)
        case _:
            return failed("unsupported", f"this program cannot {effect.tag}")


def entry(found):
    status = found.stat(follow_symlinks=False)
    about = record(
        kind=KINDS.get(stat.S_IFMT(status.st_mode), "other"),
        size=status.st_size,
        mtime_ms=status.st_mtime_ns // 1_000_000,
        mtime_ns=status.st_mtime_ns % 1_000_000,
        ctime_ms=None,
        inode=None,
        mode=None,
    )
    return record(name=found.name, invalid_name=False, stat=about)


def read(path, offset, length):
    try:
        with Path(path).open("rb") as file:
            file.seek(offset)
            content = Variant("bytes", record(bytes=file.read(length)))
    except OSError as error:
        return failed("other", str(error))
    return Variant("content", record(content=content))


def failed(code, message):
    return Variant("failed", record(code=code, message=message))


def record(**fields):
    """A record of the WIT, in whose names there is `-` for `_`."""
    made = Record()
    for name, value in fields.items():
        setattr(made, name.replace("_", "-"), value)
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
