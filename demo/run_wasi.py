"""Runs a WASI command under the wasmtime wheel, as `wasmtime run --dir STORE COMMAND ARGS` would.

usage: run_wasi.py [--http] [--read-only] COMMAND.wasm STORE ARGS...

The store is the only folder that the command can see, under the path it has outside.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from wasmtime import Config, Engine, ExitTrap, Store, WasiConfig
from wasmtime.component import Component, Linker


def run(
    command: str,
    store_folder: str,
    arguments: Sequence[str],
    *,
    http: bool = False,
    read_only: bool = False,
) -> int:
    """Runs one command line to its exit code; what it prints goes where ours goes."""
    config = Config()
    config.wasm_component_model = True
    engine = Engine(config)
    linker = Linker(engine)
    linker.add_wasip2()
    if http:
        linker.add_wasi_http()
    store = Store(engine)
    wasi = WasiConfig()
    wasi.argv = ["memdir", *arguments]
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    folder = str(Path(store_folder).absolute())
    wasi.preopen_dir(folder, folder, not read_only)
    store.set_wasi(wasi)
    if http:
        store.set_wasi_http()
    component = Component.from_file(engine, command)
    instance = linker.instantiate(store, component)
    name = next(key for key in component.type.exports(engine) if key.startswith("wasi:cli/run@"))
    interface = instance.get_export_index(store, name)
    index = instance.get_export_index(store, "run", interface)
    start = None if index is None else instance.get_func(store, index)
    if start is None:
        raise SystemExit(f"{command} exports no `run`: is it a WASI command?")
    try:
        outcome = start(store)
    except ExitTrap as end:
        return end.code
    return 0 if outcome.tag == "ok" else 1


def main(words: list[str]) -> int:
    flags = set()
    while words and words[0] in {"--http", "--read-only"}:
        flags.add(words.pop(0))
    command, folder, *arguments = words
    return run(command, folder, arguments, http="--http" in flags, read_only="--read-only" in flags)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
