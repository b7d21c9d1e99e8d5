"""Anthropic's memory tool over a store, for the tool runner of Anthropic's SDK.

Needs the package `anthropic` (`pip install memdir[anthropic]`), so nothing else imports this module
before `memory.tool()` does.

```python
runner = client.beta.messages.tool_runner(..., tools=[memory.tool()])
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from memdir.errors import MemdirError

if TYPE_CHECKING:
    from anthropic import BaseModel
    from anthropic.types.beta import BetaCacheControlEphemeralParam

    from memdir._memdir import AsyncMemdir, Memdir

__all__ = ["AsyncMemoryTool", "MemoryTool"]

# Each command has a method of its own in the SDK. Here they are one, as the core tells them apart.


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool over a store with blocking calls; `memory.tool()` makes one.

    What memdir refuses is raised as the SDK's `ToolError`, whose text the model gets to read.
    """

    def __init__(
        self, memory: Memdir, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        """Take an open store, and where the API is to set a cache breakpoint."""
        super().__init__(cache_control=cache_control)
        self._memory = memory

    def _run(self, command: BaseModel) -> str:
        try:
            return self._memory.tool(command.to_dict(warnings=False))
        except MemdirError as error:
            raise ToolError(str(error)) from error

    view = create = str_replace = insert = delete = rename = _run


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asyncio; `await memory.tool()` makes one."""

    def __init__(
        self, memory: AsyncMemdir, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        """Take what `MemoryTool` takes."""
        super().__init__(cache_control=cache_control)
        self._memory = memory

    async def _run(self, command: BaseModel) -> str:
        try:
            return await self._memory.tool(command.to_dict(warnings=False))
        except MemdirError as error:
            raise ToolError(str(error)) from error

    view = create = str_replace = insert = delete = rename = _run
