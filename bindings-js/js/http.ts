// The effect `http`, over Node's own `fetch`. Nothing is followed, retried or decoded that the flow
// did not ask for.
//
// Proxies: `fetch` ignores HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and so does this host. Whoever
// needs a proxy starts Node with NODE_USE_ENV_PROXY=1 (Node 24) or sets a dispatcher for `fetch`.
// Beside the limit of the effect, `fetch` gives up a connection that takes longer than 10 s.

import { bytesOf, type Effects, type Header, type Outcome } from "./effects.js";
import { errno, Failed } from "./failure.js";
import { within } from "./within.js";

export function http(effect: Effects["http"], stop: AbortSignal): Promise<Outcome> {
  return within(stop, effect.timeoutMs, async (signal) => {
    const request = requestOf(effect);
    try {
      const response = await fetch(request, { signal });
      const body = await bodyOf(response, effect.maxBytes);
      return { http: { status: response.status, headers: headersOf(response), body } };
    } catch (error) {
      throw error instanceof Failed ? error : unreachable(error);
    }
  });
}

function requestOf(effect: Effects["http"]): Request {
  if (!/^https?:\/\//i.test(effect.url)) {
    throw new Failed("unsupported", "only http:// and https:// can be asked");
  }
  try {
    return valid(effect);
  } catch {
    // What `fetch` says of it repeats addresses and headers, in which secrets stand.
    throw new Failed("other", "the address or a header is none that can be sent");
  }
}

function valid({ method, url, headers, body }: Effects["http"]): Request {
  const all = new Headers();
  for (const { name, value } of headers) {
    all.append(name, value);
  }
  all.set("accept-encoding", "identity");
  return new Request(url, {
    method,
    headers: all,
    body: body === null ? null : bytesOf(body),
    redirect: "manual",
  });
}

/** The whole body; reading stops as soon as it is too large. */
async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) {
      throw new Failed("too-large", `the answer is larger than ${maxBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Lower case and sorted by name, as `fetch` gives them. */
function headersOf(response: Response): Header[] {
  return Array.from(response.headers, ([name, value]) => ({ name, value }));
}

/** `fetch` hides what happened in the cause of its error. */
function unreachable(error: unknown): Failed {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const isTimeout = /TIMEOUT|ETIMEDOUT/.test(errno(cause));
  const message = cause instanceof Error && cause.message !== "" ? cause.message : errno(cause) || String(cause);
  return new Failed(isTimeout ? "timeout" : "network", message.toWellFormed());
}
