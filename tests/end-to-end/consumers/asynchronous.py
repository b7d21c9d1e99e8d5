"""An asyncio program that scans four times at once; argv: the store. Prints JSON."""

import asyncio
import json
import sys

import memdir


async def main() -> None:
    async with memdir.AsyncMemdir(directory=sys.argv[1]) as memory:
        scans = await asyncio.gather(*(memory.scan() for _ in range(4)))
    print(json.dumps([[header.path for header in scan.memories] for scan in scans]))


asyncio.run(main())
