"""Runs a WASI program, with our standard input, and prints what it prints."""

import sys
from pathlib import Path

from program import Program

ran = Program(Path(sys.argv[1])).run(*sys.argv[2:], stdin=sys.stdin.buffer.read())
sys.stdout.write(ran.stdout)
sys.stderr.write(ran.stderr)
sys.exit(ran.code)
