"""One HTTP exchange. Every decision (method, address, headers, limits) is the core's.

Proxies: those of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), as httpx2
reads them, but for this machine's own addresses, which no proxy has to see. Certificates: those
that httpx2 trusts, or `SSL_CERT_FILE` and `SSL_CERT_DIR`.
"""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING

from memdir import _core
from memdir._outcomes import Json, Outcome, failed, shown

if TYPE_CHECKING:
    import ssl

    import httpx2


_context: ssl.SSLContext | None = None


def _trusted() -> ssl.SSLContext:
    """Load the certificates once: it takes longer than most exchanges."""
    global _context  # noqa: PLW0603
    if _context is None:
        import httpx2  # noqa: PLC0415

        _context = httpx2.create_ssl_context()
    return _context


async def exchange(effect: Json) -> Outcome:
    """Send one request and read the whole answer, within the limits of the effect."""
    # Imported here because most programs never make a request, and it is the slowest import.
    try:
        import httpx2  # noqa: PLC0415
    except ImportError as error:
        return failed("unsupported", f"HTTP needs httpx2; install httpx2 ({error})")
    limit = effect["timeoutMs"]
    try:
        async with asyncio.timeout(limit / 1000) as clock:
            return await _answer(effect)
    except TimeoutError:
        if clock.expired():
            return failed("timeout", f"no answer within {limit} ms")
        return failed("network", "the connection timed out")
    except httpx2.TimeoutException:
        return failed("timeout", f"no answer within {limit} ms")
    except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        return failed("unsupported", str(error))
    except (httpx2.HTTPError, OSError) as error:
        return failed("network", str(error) or type(error).__name__)
    except Exception as error:  # noqa: BLE001 - whatever the client throws must become an outcome
        return failed("other", shown(error))


def _is_own(host: str) -> bool:
    """Whether an address is one of this machine, by its name alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


async def _answer(effect: Json) -> Outcome:
    import httpx2  # noqa: PLC0415

    client = httpx2.AsyncClient(
        follow_redirects=False,
        # The whole exchange has one limit, which the caller holds.
        timeout=None,
        trust_env=not _is_own(httpx2.URL(effect["url"]).host),
        # Also for http: the way to a proxy may be encrypted.
        verify=_trusted(),
        headers={"user-agent": f"memdir/{_core.__version__}"},
    )
    headers = [(header["name"], header["value"]) for header in effect["headers"]]
    headers = [header for header in headers if header[0].lower() != "accept-encoding"]
    headers.append(("accept-encoding", "identity"))
    async with client:
        request = client.build_request(
            effect["method"], effect["url"], headers=headers, content=_body(effect)
        )
        response = await client.send(request, stream=True)
        try:
            return await _read(response, effect["maxBytes"])
        finally:
            await response.aclose()


async def _read(response: httpx2.Response, limit: int) -> Outcome:
    too_large = failed("too-large", f"the answer is larger than {limit} bytes")
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        return too_large
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > limit:
            return too_large
    headers = sorted(
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, value in response.headers.raw
    )
    return {
        "http": {
            "status": response.status_code,
            "headers": [{"name": name, "value": value} for name, value in headers],
            "body": bytes(body),
        }
    }


def _body(effect: Json) -> bytes | None:
    content = effect["body"]
    if content is None:
        return None
    return content["text"].encode() if "text" in content else bytes(content["bytes"])
