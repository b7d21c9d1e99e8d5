# The short commands. What each does is decided in xtask/, the build tool.

SHELL = bash
XTASK = cargo run --quiet --package xtask --
COMPILE = @echo "==> compile the build tool (the first time takes a minute)"

.PHONY: help demo test build bench clean

help:  ## show the targets
	@grep -E '^[a-z]+: ' $(MAKEFILE_LIST) | sed 's/: *## */\t/' | expand -t 10

demo:  ## build, show a sample store through every package and a team server, compare what they print
	$(COMPILE)
	@$(XTASK) demo

test:  ## set up, build, run every suite
	$(COMPILE)
	@$(XTASK) test

build:  ## leave everything that a user installs in dist/
	$(COMPILE)
	@$(XTASK) build

bench:  ## measure
	$(COMPILE)
	@$(XTASK) bench

clean:  ## remove everything that was built or installed here
	rm -rf target dist .venv .cache bindings-js/{node_modules,dist,wasm} bindings-{js,py}/LICENSE-* benches/node_modules
	rm -rf {.,bindings-py}/.{hypothesis,mypy_cache,pytest_cache,ruff_cache}
