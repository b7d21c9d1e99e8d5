"""Runs a WASI program under the wasmtime wheel, the way `wasmtime run --dir ...` does."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wasmtime import Engine, ExitTrap, Store, WasiConfig
from wasmtime import component as wasm

COMPILED = ".cwasm"


@dataclass
class Ran:
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Program:
    def __init__(self, path: Path, http: bool = False) -> None:
        self.http = http
        self.engine = Engine()
        load = wasm.Component.from_file
        if path.suffix == COMPILED:
            load = wasm.Component.deserialize_file
        self.component = load(self.engine, str(path))
        self.imports = list(self.component.type.imports(self.engine))
        self.main = next(
            name
            for name in self.component.type.exports(self.engine)
            if name.startswith("wasi:cli/run@")
        )

    def compiled(self, folder: Path) -> Path:
        """The program as it runs on this machine, so that other processes need not compile it."""
        path = folder / f"program{COMPILED}"
        path.write_bytes(self.component.serialize())
        return path

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        folders: list[Path] | None = None,
        env: dict[str, str] | None = None,
        writable: bool = True,
    ) -> Ran:
        """`folders` are seen by the program under their own paths; `env` is all that it has."""
        linker = wasm.Linker(self.engine)
        linker.add_wasip2()
        if self.http:
            linker.add_wasi_http()
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "stdin").write_bytes(stdin)
            config = WasiConfig()
            config.argv = ["memdir", *arguments]
            config.env = list((env or {}).items())
            config.stdin_file = place / "stdin"
            config.stdout_file = str(place / "stdout")
            config.stderr_file = str(place / "stderr")
            for path in folders or []:
                config.preopen_dir(str(path), str(path), writable)
            store = Store(self.engine)
            store.set_wasi(config)
            if self.http:
                store.set_wasi_http()
            instance = linker.instantiate(store, self.component)
            outer = instance.get_export_index(store, self.main)
            inner = outer and instance.get_export_index(store, "run", outer)
            function = inner and instance.get_func(store, inner)
            assert function is not None, "the program exports no wasi:cli/run"
            try:
                result = function(store)
                code = 0 if result.tag == "ok" else 1
            except ExitTrap as trap:
                code = trap.code
            del instance, store
            return Ran(
                code,
                (place / "stdout").read_bytes().decode(),
                (place / "stderr").read_bytes().decode(),
            )

    def probe(self, effects: list[dict[str, Any]], folders: list[Path] | None = None) -> list[Any]:
        """Only of the probe: performs effects, gives their outcomes."""
        ran = self.run(stdin=json.dumps(effects).encode(), folders=folders)
        assert ran.code == 0, ran.stderr
        return ran.json


def printed_of(opened: dict[str, Any]) -> dict[str, Any]:
    """What `path --json` prints of it: the places are for programs only."""
    return {key: value for key, value in opened.items() if key != "places"}
