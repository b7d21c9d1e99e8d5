"""The two faces of a store. They differ in how they wait and in nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from memdir._core import Store
from memdir._drive import drive, drive_async
from memdir._host import AsyncModel, Host, Model, OnEvent

if TYPE_CHECKING:
    from types import TracebackType

    from memdir._types import MemoryFile, Opened, Scan


class _Base:
    """What both know."""

    _store: Store
    _host: Host
    _opened: Opened

    @property
    def directory(self) -> str:
        """The memory folder: absolute, normalised, with one trailing separator."""
        return self._opened.directory

    @property
    def enabled(self) -> bool:
        """Whether memory is on. When it is off, nothing is read, written or created."""
        return self._opened.enabled

    def __repr__(self) -> str:
        """Name the folder."""
        return f"{type(self).__name__}(directory={self.directory!r})"


def _store(directory: str | os.PathLike[str]) -> Store:
    return Store({"directory": os.fspath(directory)})


class Memdir(_Base):
    """A memory folder, with blocking calls.

    ```python
    with Memdir(directory="/home/me/notes") as memory:
        for header in memory.scan().memories:
            print(header.path, header.description)
    ```

    It may be used from several threads at once. Ctrl-C ends a call cleanly, then raises
    `KeyboardInterrupt`.
    """

    def __init__(
        self,
        *,
        directory: str | os.PathLike[str],
        on_event: OnEvent | None = None,
        model: Model | None = None,
    ) -> None:
        """Open a store.

        Args:
            directory: The memory folder, absolute. It need not exist yet.
            on_event: Called with each `Event`. What it raises is logged (logger `memdir`).
            model: A request as JSON in, the answer as JSON out; called in a thread.

        Raises:
            PathError: The directory is refused; see `memdir.rules.validate_memory_path`.

        """
        self._store = _store(directory)
        self._host = Host(on_event=on_event, model=model)
        self._opened = drive(self._store.open(), self._host)

    @classmethod
    def open(
        cls,
        *,
        directory: str | os.PathLike[str],
        on_event: OnEvent | None = None,
        model: Model | None = None,
    ) -> Self:
        """Open a store; the same as calling the class."""
        return cls(directory=directory, on_event=on_event, model=model)

    def scan(self) -> Scan:
        """List the memories, newest first, and report every file that could not be one.

        Never writes, and never fails because of a malformed memory.
        """
        return drive(self._store.scan(), self._host)

    def manifest(self) -> str:
        """Give the memories as a model reads them, one line each."""
        return drive(self._store.manifest(), self._host)

    def read(self, path: str) -> MemoryFile:
        """Give one memory, whole.

        Args:
            path: Relative to the store, with `/`.

        Raises:
            PathError: The path leaves the store (`path-outside-store`, `link-outside`).
            InputError: The file is no text (`not-text`).
            HostError: It could not be read, such as `not-found`.

        """
        return drive(self._store.read(path), self._host)

    def prompt(self, *, index: bool = True) -> str | None:
        """Give what the model is told about its memory, and create the folder if it is missing.

        Args:
            index: Whether the content of MEMORY.md is part of it.

        Returns:
            The text, or None when memory is off.

        """
        return drive(self._store.prompt(index=index), self._host)

    def close(self) -> None:
        """Let go of the store. Nothing is open between calls, so nothing can be lost."""

    def __enter__(self) -> Self:
        """Give the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


class AsyncMemdir(_Base):
    """A memory folder, for asyncio.

    ```python
    async with await AsyncMemdir.open(directory="/home/me/notes") as memory:
        scan = await memory.scan()
    ```

    Cancelling a call stops it cleanly: no lock and no temporary file is left behind.
    """

    def __init__(self) -> None:
        """Refuse: opening takes time, which a constructor cannot wait for."""
        raise TypeError("use `await AsyncMemdir.open(directory=...)`")

    @classmethod
    async def open(
        cls,
        *,
        directory: str | os.PathLike[str],
        on_event: OnEvent | None = None,
        model: AsyncModel | None = None,
    ) -> Self:
        """Open a store; see `Memdir`. `model` may also be a coroutine function."""
        memory = cls.__new__(cls)
        memory._store = _store(directory)
        memory._host = Host(on_event=on_event, model=model)
        memory._opened = await drive_async(memory._store.open(), memory._host)
        return memory

    async def scan(self) -> Scan:
        """See `Memdir.scan`."""
        return await drive_async(self._store.scan(), self._host)

    async def manifest(self) -> str:
        """See `Memdir.manifest`."""
        return await drive_async(self._store.manifest(), self._host)

    async def read(self, path: str) -> MemoryFile:
        """See `Memdir.read`."""
        return await drive_async(self._store.read(path), self._host)

    async def prompt(self, *, index: bool = True) -> str | None:
        """See `Memdir.prompt`."""
        return await drive_async(self._store.prompt(index=index), self._host)

    async def close(self) -> None:
        """See `Memdir.close`."""

    async def __aenter__(self) -> Self:
        """Give the store itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()
