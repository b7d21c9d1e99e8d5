"""A rule of memdir-core.wasm: python rule.py memdir-core.wasm MEMORY.md"""

import sys
from pathlib import Path

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker

engine = Engine()
store = Store(engine)
core = Linker(engine).instantiate(store, Component.from_file(engine, sys.argv[1]))
rules = core.get_export_index(store, "memdir:memdir/rules@0.1.0")
truncate_index = core.get_func(store, core.get_export_index(store, "truncate-index", rules))

index = truncate_index(store, Path(sys.argv[2]).read_text("utf-8"))
print(index.content)
print(index.warning or f"{index.lines} lines, all of them fit", file=sys.stderr)
