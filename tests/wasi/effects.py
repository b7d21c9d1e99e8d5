"""A host in Python, as small as one can be: what the flows of a store ask for.

It shows what an embedder has to write. It is no model for hostile stores: in the real hosts nothing
leaves `within` through a link that appears between the look and the deed either.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from component import Variant

CODES = {
    errno.ENOENT: "not-found",
    errno.EEXIST: "exists",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.ENOTDIR: "not-a-directory",
    errno.EISDIR: "is-a-directory",
    errno.ELOOP: "loop",
    errno.ENAMETOOLONG: "name-too-long",
    errno.EOPNOTSUPP: "unsupported",
}


class Host:
    def __init__(
        self,
        model: Callable[[str], str] | None = None,
        http: Callable[..., Variant] | None = None,
        token: Callable[[], str] | None = None,
        approve: Callable[[str, str], bool] | None = None,
    ) -> None:
        self.ask = model
        self.exchange = http
        self.give_token = token
        self.approves = approve
        self.events: list[dict[str, Any]] = []
        self.printed = {"stdout": "", "stderr": ""}
        self.seen: list[str] = []

    def __call__(self, effect: Variant) -> Variant | None:
        """The outcome of one effect; none for `emit`."""
        self.seen.append(effect.tag)
        method = getattr(self, effect.tag.replace("-", "_"), None)
        if method is None:
            return failed("unsupported", f"this host cannot {effect.tag}")
        payload = effect.payload or {}
        if payload.get("within") is not None:
            names = [payload[key] for key in ("path", "from", "to") if key in payload]
            if any(is_led_away(name, payload["within"]) for name in names):
                return failed("loop", "a folder on the way is a link")
        try:
            return method(**payload)
        except OSError as error:
            return failed(CODES.get(error.errno or 0, "other"), str(error))

    def host_info(self) -> Variant:
        return Variant("host-info", {"hostId": "test", "pid": os.getpid(), "platform": "posix"})

    def now(self) -> Variant:
        return Variant("now", {"ms": time.time_ns() // 1_000_000, "offsetMinutes": 0})

    def list(self, path: str, within: str | None) -> Variant:
        entries = []
        with os.scandir(os.fsencode(path)) as found:
            for entry in found:
                name = entry.name.decode("utf-8", errors="replace")
                valid = name.encode() == entry.name
                status = about(entry.stat(follow_symlinks=False))
                entries.append({"name": name, "invalidName": not valid, "stat": status})
        return Variant("listing", {"entries": entries, "incomplete": False})

    def stat(self, path: str) -> Variant:
        return Variant("stat", about(Path(path).stat()))

    def lstat(self, path: str) -> Variant:
        return Variant("stat", about(os.lstat(path)))

    def real_path(self, path: str) -> Variant:
        return Variant("text", {"text": os.path.realpath(path, strict=True)})

    def read(self, path: str, within: str | None, offset: int, length: int) -> Variant:
        return Variant("content", {"content": content(path, offset, length)})

    def read_many(self, paths: list[str], within: str | None, length: int) -> Variant:
        heads = []
        for path in paths:
            try:
                heads.append(Variant("content", {"content": content(path, 0, length)}))
            except OSError as error:
                heads.append(failed(CODES.get(error.errno or 0, "other"), str(error)))
        return Variant("heads", {"heads": heads})

    def make_dir(self, path: str, within: str | None, mode: int) -> Variant:
        if within is not None and not Path(within).is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", within)
        Path(path).mkdir(mode, parents=True, exist_ok=True)
        return Variant("done")

    def write(
        self,
        path: str,
        within: str | None,
        content: Variant,
        via: str | None,
        mode: int,
        sync: bool,
    ) -> Variant:
        is_text = content.tag == "text"
        data = content.payload["text"].encode() if is_text else content.payload["bytes"]
        # Without `via` the file must not be there yet.
        with open(via or path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if via:
            Path(via).replace(path)
        return Variant("done")

    def remove(self, path: str, within: str | None) -> Variant:
        if Path(path).is_dir() and not Path(path).is_symlink():
            Path(path).rmdir()
        else:
            Path(path).unlink()
        return Variant("done")

    def rename(self, to: str, within: str | None, replace: bool, sync: bool, **old: str) -> Variant:
        if replace:
            Path(old["from"]).replace(to)
        else:
            # A second name fails where there is one, which a rename does not.
            os.link(old["from"], to, follow_symlinks=False)
            Path(old["from"]).unlink()
        if sync:
            folder = os.open(Path(to).parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        return Variant("done")

    def link(self, to: str, within: str | None, **old: str) -> Variant:
        os.link(old["from"], to, follow_symlinks=False)
        return Variant("done")

    def set_mtime(self, path: str, **time: int) -> Variant:
        seconds = time["mtimeMs"] / 1000
        os.utime(path, (seconds, seconds))
        return Variant("done")

    def process_alive(self, pid: int) -> Variant:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return Variant("alive", {"alive": False})
        return Variant("alive", {"alive": True})

    def random(self, length: int) -> Variant:
        return Variant("content", {"content": Variant("bytes", {"bytes": os.urandom(length)})})

    def sleep(self, ms: int) -> Variant:
        return Variant("done")

    def model(self, request: str, **limits: int) -> Variant:
        if self.ask is None:
            return failed("unsupported", "this host was given no model")
        return Variant("text", {"text": self.ask(request)})

    def token(self, **limits: int) -> Variant:
        if self.give_token is None:
            return failed("unsupported", "this host was given no token")
        return Variant("text", {"text": self.give_token()})

    def approve(self, path: str, parent: str, **limits: int) -> Variant:
        if self.approves is None:
            return failed("unsupported", "this host has nobody to ask")
        return Variant("approved", {"approved": self.approves(path, parent)})

    def http(self, **exchange: Any) -> Variant:
        if self.exchange is None:
            return failed("unsupported", "this host cannot make HTTP requests")
        return self.exchange(**exchange)

    def print(self, stream: str, text: str) -> Variant:
        self.printed[stream] += text
        return Variant("done")

    def emit(self, event: dict[str, Any]) -> None:
        self.events.append(event)


def is_led_away(path: str, within: str) -> bool:
    """Whether a folder between the two is a link."""
    folders = Path(path).relative_to(within).parents
    return any((Path(within) / folder).is_symlink() for folder in folders if folder.name)


def failed(code: str, message: str) -> Variant:
    return Variant("failed", {"code": code, "message": message})


def content(path: str, offset: int, length: int) -> Variant:
    # A flow may ask before it knows what the path is: a FIFO must not make it wait.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EOPNOTSUPP, "no regular file", path)
        file.seek(offset)
        data = file.read(length)
    try:
        # Text crosses into the component much faster than bytes.
        return Variant("text", {"text": data.decode()})
    except UnicodeDecodeError:
        return Variant("bytes", {"bytes": data})


def about(status: os.stat_result) -> dict[str, Any]:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
    return {
        "kind": kinds.get(stat.S_IFMT(status.st_mode), "other"),
        "size": status.st_size,
        "mtimeMs": status.st_mtime_ns // 1_000_000,
        "mtimeNs": status.st_mtime_ns % 1_000_000,
        "ctimeMs": status.st_ctime_ns // 1_000_000,
        "inode": status.st_ino,
        "mode": stat.S_IMODE(status.st_mode),
    }
