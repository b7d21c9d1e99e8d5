"""Runs a WASI command under the wasmtime wheel, as `wasmtime run` would.

usage: run_wasi.py [--http] [--read-only] [--dir FOLDER]... [--env NAME[=VALUE]]...
                   COMMAND.wasm ARGS...

The folders are all that the command can see, each under the path it has outside; the variables are
all that it knows, without a value those of this process.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from wasmtime import Config, Engine, ExitTrap, Store, WasiConfig
from wasmtime.component import Component, Linker


def run(
    command: str,
    arguments: Sequence[str],
    *,
    folders: Sequence[str],
    env: Mapping[str, str],
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
    wasi.env = list(env.items())
    for each in folders:
        folder = str(Path(each).absolute())
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
    parser = argparse.ArgumentParser(prog="run_wasi.py")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--dir", action="append", default=[], dest="folders")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("command")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    env = {}
    for each in given.env:
        name, has_value, value = each.partition("=")
        if has_value or name in os.environ:
            env[name] = value if has_value else os.environ[name]
    return run(
        given.command,
        given.arguments,
        folders=given.folders,
        env=env,
        http=given.http,
        read_only=given.read_only,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
