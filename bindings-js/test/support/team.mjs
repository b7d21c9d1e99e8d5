// A team's server as its protocol says, with everything that it was asked; and stores that share through it.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Memdir } from "memdir";

import { folder } from "./folders.mjs";
import { bodyOf, serve } from "./servers.mjs";

export const TOKEN = "team-token-0123456789abcdefghijklmnopqrstuvwxyz";
export const REPOSITORY = "acme/app";

/** What an entry is recognised by. */
export const checksum = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** Answers with JSON. */
export const json = (response, status, value, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));

/**
 * A server with these entries. `meddle` may answer a request itself and then gives true; `accepts` is the
 * token that it takes.
 */
export async function teamServer(t, entries = {}) {
  const server = {
    entries: new Map(Object.entries(entries)),
    requests: [],
    accepts: TOKEN,
    meddle: () => false,
    /** Method and status of every request since the last call. */
    asked: () => server.requests.splice(0).map(({ method, view, status }) => `${method}${view} ${status}`),
    version: () => checksum(JSON.stringify([...server.entries].sort())),
  };
  server.url = await serve(t, async (request, response) => {
    const { method, url, headers } = request;
    const seen = { method, url, headers, view: url.endsWith("&view=hashes") ? " hashes" : "", at: performance.now() };
    server.requests.push(seen);
    response.on("close", () => {
      seen.status = response.statusCode;
    });
    seen.body = await bodyOf(request);
    const sent = [...server.entries].sort();
    const quoted = `"${server.version()}"`;
    const entryChecksums = Object.fromEntries(sent.map(([key, text]) => [key, checksum(text)]));
    seen.status = 0;
    if (await server.meddle(seen, response)) {
      return;
    }
    if (headers.authorization !== `Bearer ${server.accepts}`) {
      json(response, 401, { error: { message: `no such token: ${headers.authorization}` } });
    } else if (!url.startsWith(`/api/claude_code/team_memory?repo=${REPOSITORY}`)) {
      json(response, 400, { error: { message: "no such repository" } });
    } else if (method === "PUT") {
      const fits = headers["if-match"] === undefined ? server.entries.size === 0 && headers["if-none-match"] === "*" : headers["if-match"] === quoted;
      if (!fits) {
        response.writeHead(412).end();
        return;
      }
      for (const [key, text] of Object.entries(JSON.parse(seen.body).entries)) {
        server.entries.set(key, text);
      }
      json(response, 200, { checksum: server.version(), lastModified: "2026-11-30T00:00:00Z" });
    } else if (server.entries.size === 0) {
      response.writeHead(404).end();
    } else if (seen.view !== "") {
      json(response, 200, { checksum: server.version(), entryChecksums });
    } else if (headers["if-none-match"] === quoted) {
      response.writeHead(304).end();
    } else {
      json(response, 200, { version: 1, checksum: server.version(), content: { entries: Object.fromEntries(sent), entryChecksums } });
    }
  });
  return server;
}

/** A store of a new folder that shares through the server, closed at the end of the test. */
export async function teammate(t, { url }, { team = {}, ...options } = {}) {
  const directory = options.directory ?? folder(t);
  const events = [];
  const memdir = await Memdir.open({
    directory,
    env: {},
    team: { url, token: TOKEN, repository: REPOSITORY, ...team },
    onEvent: (event) => events.push(event),
    ...options,
  });
  t.after(() => memdir.close());
  const at = (key) => join(directory, "team", key);
  return {
    memdir,
    team: memdir.team,
    directory,
    events,
    at,
    read: (key) => readFileSync(at(key), "utf8"),
    write(key, text) {
      mkdirSync(dirname(at(key)), { recursive: true });
      writeFileSync(at(key), text);
    },
  };
}

/** What a sync gives that had nothing to do. */
export const NOTHING = { received: [], removed: [], sent: [], deleted: [], conflicts: [], report: [] };
