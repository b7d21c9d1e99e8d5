// The adapters, against servers that speak the wire formats and against some that do not. Whatever a
// provider does, a recall gives memories, says what happened, and shows the key nowhere.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { Memdir, MemdirError } from "memdir";
import { encodeModelRequest } from "memdir/rules";

import { memory, store } from "./support/folders.mjs";
import { bodyOf, PROVIDERS, serve } from "./support/servers.mjs";

const KEY = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz";
const QUERY = "How do we deploy the checkout service?";
const CHOICE = '{"selected_memories": ["coffee.md"]}';
const MEMORIES = {
  "deploy.md": memory("deploy", "how the checkout service is deployed"),
  "coffee.md": memory("coffee", "which beans the kitchen has"),
  "tests.md": memory("tests", "where fixtures live"),
};

/** Fails when a part of the key is in a text. */
function keyless(text, what) {
  assert.ok(!text.includes(KEY.slice(0, 12)), `the key is in ${what}: ${text}`);
}

/**
 * Recalls once with a server that `answer`s: what it gave, what was asked, and how long it took. That
 * the key is nowhere is looked at, too.
 */
async function recall(t, provider, answer, { model, env = {}, options } = {}) {
  const requests = [];
  const url = await serve(t, async (request, response) => {
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: await bodyOf(request), at: performance.now() });
    answer(response, requests.length);
  });
  const directory = store(t, MEMORIES);
  const events = [];
  const memdir = await Memdir.open({
    directory,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace("{url}", url)])),
    model: model ?? { name: provider.name, apiKey: KEY, baseUrl: url + provider.base },
    onEvent: (event) => events.push(event),
  });
  const started = performance.now();
  const result = await memdir.recall(QUERY, options);
  const took = performance.now() - started;
  await memdir.close();
  keyless(JSON.stringify([result, memdir, events]) + result.render(), "JSON");
  keyless(inspect([result, memdir, events], { depth: null, showHidden: true }), "what is inspected");
  for (const name of readdirSync(join(directory, ".memdir"))) {
    keyless(readFileSync(join(directory, ".memdir", name), "utf8"), name);
  }
  return { ...result, requests, took, codes: result.report.map(({ code }) => code), said: result.report[0]?.message };
}

const json = (response, status, value, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));

/** Words decided, and the report says that the model could not. */
function fellBack({ memories, codes }, why) {
  assert.deepEqual(
    memories.map(({ path, reason }) => [path, reason]),
    [["deploy.md", "lexical"]],
    why,
  );
  assert.deepEqual(codes, ["model-failed"], why);
}

for (const [kind, provider] of Object.entries(PROVIDERS)) {
  const good = provider.answer(CHOICE);

  test(`${kind}: a good answer`, async (t) => {
    const { memories, report, requests } = await recall(t, provider, (response) => json(response, 200, good), {
      options: { strategy: "model", recentTools: ["Bash"] },
    });
    assert.deepEqual(
      memories.map(({ path, reason }) => [path, reason]),
      [["coffee.md", "model"]],
    );
    assert.deepEqual(report, []);
    const [{ method, url, headers, body }, ...more] = requests;
    assert.deepEqual([method, url, more], ["POST", provider.path, []]);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(provider.keyOf(headers), KEY);
    assert.equal(headers["anthropic-version"], kind === "anthropic" ? "2023-06-01" : undefined);
    const asked = JSON.parse(body);
    assert.equal(asked.model, "some-model");
    assert.ok(asked.max_tokens >= 256);
    assert.ok(provider.systemOf(asked).includes("selected_memories"));
    assert.deepEqual(provider.schemaOf(asked).required, ["selected_memories"]);
    const [{ role, content }, ...others] = provider.userOf(asked);
    assert.deepEqual([role, others], ["user", []]);
    for (const part of [QUERY, "deploy.md", "which beans the kitchen has", "Bash"]) {
      assert.ok(content.includes(part), part);
    }
  });

  test(`${kind}: key and address come from the environment`, async (t) => {
    const env = { [provider.variables.key]: ` ${KEY}\n`, [provider.variables.url]: `{url}${provider.base}/` };
    for (const model of [provider.name, { name: provider.name }, { name: provider.name, apiKey: null, baseUrl: undefined }]) {
      const { memories, requests } = await recall(t, provider, (response) => json(response, 200, good), { env, model });
      assert.deepEqual([memories[0].reason, requests[0].url], ["model", provider.path]);
      assert.equal(provider.keyOf(requests[0].headers), KEY);
    }
  });

  test(`${kind}: a server that asks for no key gets none`, async (t) => {
    const { memories, requests } = await recall(t, provider, (response) => json(response, 200, good), {
      env: { [provider.variables.url]: `{url}${provider.base}` },
      model: provider.name,
    });
    assert.deepEqual([memories[0].reason, provider.keyOf(requests[0].headers)], ["model", undefined]);
  });

  test(`${kind}: what goes wrong at once`, async (t) => {
    const refusals = [
      [401, /status 401.*key/],
      [403, /status 403.*key/],
      [404, /status 404.*name and address/],
      [402, /status 402/],
      [302, /status 302/],
    ];
    for (const [status, why] of refusals) {
      const result = await recall(t, provider, (response) =>
        json(response, status, provider.error("no such thing"), { location: "/elsewhere" }),
      );
      fellBack(result, status);
      assert.equal(result.requests.length, 1, `${status} is not tried again or followed`);
      assert.match(result.said, why);
      assert.match(result.said, /no such thing/);
    }
    const whole = JSON.stringify(good);
    const bodies = {
      "cut in half": whole.slice(0, whole.length / 2),
      "not JSON": "<html>It works!</html>",
      "not UTF-8": Buffer.from([0xff, 0xfe, 0x00]),
      nothing: "",
      "no text in it": JSON.stringify(provider.answer("")),
      "another shape": JSON.stringify({ content: 5, choices: {} }),
      null: "null",
      "no choice in it": JSON.stringify(provider.answer("I would take the first one.")),
      "deep JSON": "[".repeat(100_000),
    };
    for (const [name, body] of Object.entries(bodies)) {
      const result = await recall(t, provider, (response) => response.end(body));
      fellBack(result, name);
      assert.match(result.said, /the model's answer/, name);
      assert.equal(result.requests.length, 1);
    }
  });

  test(`${kind}: a key that is said back`, async (t) => {
    const echoes = {
      "an error": (response) => json(response, 401, provider.error(`bad key ${KEY} and again ${KEY}`)),
      "an error of the request": (response) => json(response, 400, provider.error(KEY)),
      "an error that is no JSON": (response) => response.writeHead(403).end(`Bearer ${KEY}`),
      "headers": (response) => json(response, 401, provider.error("no"), { "x-key": KEY, location: `/?key=${KEY}` }),
      "an answer that is none": (response) => json(response, 200, provider.answer(`${KEY} ${KEY}`)),
      "an answer of another shape": (response) => json(response, 200, { [KEY]: KEY }),
    };
    for (const [name, answer] of Object.entries(echoes)) {
      fellBack(await recall(t, provider, answer), name);
    }
  });

  test(`${kind}: a server without schemas is asked again without one`, async (t) => {
    const { memories, report, requests } = await recall(t, provider, (response, count) =>
      count === 1 ? json(response, 400, provider.error("unknown field")) : json(response, 200, good),
    );
    assert.deepEqual([memories[0].reason, report], ["model", []]);
    const [first, second] = requests.map(({ body }) => JSON.parse(body));
    assert.ok(provider.schemaOf(first));
    assert.equal(provider.schemaOf(second), undefined);
  });

  test(`${kind}: 50 MB of an answer`, async (t) => {
    const part = Buffer.alloc(64 * 1024, "x");
    for (const status of [200, 500]) {
      let sent = 0;
      const result = await recall(t, provider, (response) => {
        response.writeHead(status);
        const more = () => {
          while (sent < 50_000_000 && !response.destroyed) {
            sent += part.length;
            if (!response.write(part)) {
              response.once("drain", more);
              return;
            }
          }
          response.end();
        };
        more();
      });
      fellBack(result);
      assert.match(result.said, /larger than/);
      assert.ok(sent < 25_000_000, `${sent} bytes were taken`);
    }
  });
}

test("what takes its time", { concurrency: true }, async (t) => {
  const all = [];
  for (const [kind, provider] of Object.entries(PROVIDERS)) {
    const good = provider.answer(CHOICE);
    const slow = (name, run) => all.push(t.test(`${kind}: ${name}`, run));

    slow("429 with retry-after, then success", async (t) => {
      const { memories, report, requests } = await recall(t, provider, (response, count) =>
        count === 1 ? json(response, 429, provider.error("slow down"), { "retry-after": "1" }) : json(response, 200, good),
      );
      assert.deepEqual([memories[0].reason, report, requests.length], ["model", [], 2]);
      const pause = requests[1].at - requests[0].at;
      assert.ok(pause >= 990 && pause < 5_000, `${pause} ms`);
    });

    slow("429 with a retry-after that nobody waits for", async (t) => {
      const result = await recall(t, provider, (response) =>
        json(response, 429, provider.error("tomorrow"), { "retry-after": "86400" }),
      );
      fellBack(result);
      assert.match(result.said, /status 429/);
      assert.equal(result.requests.length, 1);
      assert.ok(result.took < 5_000);
    });

    slow("500, again and again", async (t) => {
      const result = await recall(t, provider, (response) => json(response, 500, provider.error(`overloaded, ${KEY}`)));
      fellBack(result);
      assert.match(result.said, /status 500/);
      assert.equal(result.requests.length, 4, "one try and three more");
      assert.ok(result.took >= 3_500, "0.5 s, 1 s, 2 s");
    });

    slow("500, then success", async (t) => {
      const { memories, report } = await recall(t, provider, (response, count) =>
        count === 1 ? response.writeHead(503).end() : json(response, 200, good),
      );
      assert.deepEqual([memories[0].reason, report], ["model", []]);
    });

    slow("a connection that breaks in the middle, then success", async (t) => {
      const { memories, report } = await recall(t, provider, (response, count) => {
        if (count > 1) {
          json(response, 200, good);
          return;
        }
        response.writeHead(200, { "content-length": "1000" }).write(JSON.stringify(good).slice(0, 20));
        setTimeout(() => response.destroy(), 10);
      });
      assert.deepEqual([memories[0].reason, report], ["model", []]);
    });
  }

  all.push(
    t.test("nobody there", async (t) => {
      const model = { name: "openai/some-model", apiKey: KEY, baseUrl: "http://127.0.0.1:1" };
      fellBack(await recall(t, PROVIDERS.openai, () => {}, { model }));
    }),
    t.test("a server that drips", async (t) => {
      const provider = PROVIDERS.anthropic;
      const result = await recall(t, provider, (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const drip = setInterval(() => response.write(" "), 100);
        response.on("close", () => clearInterval(drip));
      });
      fellBack(result);
      assert.match(result.said, /no answer within \d+ ms/);
      assert.ok(result.took > 9_500 && result.took < 15_000, `${result.took} ms`);
    }),
  );
  await Promise.all(all);
});

test("a key that is cut off, or named as a memory", async (t) => {
  for (const provider of Object.values(PROVIDERS)) {
    // Everything up to 200 characters of what a provider says is shown.
    for (let before = 150; before <= 190; before += 10) {
      fellBack(await recall(t, provider, (response) => json(response, 401, provider.error("x".repeat(before) + KEY))));
    }
    const { memories } = await recall(t, provider, (response) =>
      json(response, 200, provider.answer(JSON.stringify({ selected_memories: [KEY, "coffee.md"] }))),
    );
    assert.equal(memories[0].path, "coffee.md");
  }
});

test("a redirect carries the key nowhere", async (t) => {
  for (const provider of Object.values(PROVIDERS)) {
    let visited = false;
    const elsewhere = await serve(t, (_, response) => {
      visited = true;
      json(response, 200, provider.answer(CHOICE));
    });
    fellBack(await recall(t, provider, (response) => response.writeHead(307, { location: elsewhere }).end()));
    assert.equal(visited, false);
  }
});

test("a key is in no error", async () => {
  const attempts = [
    { name: "openai/x", apiKey: `${KEY}\u0007` },
    { name: "openai/x", apiKey: `${KEY} with blanks` },
    { name: "openai/x", apiKey: `${KEY}\ud800` },
    { name: "openai/x", apiKey: [KEY] },
    { name: "openai/x", apiKey: KEY, baseUrl: "nowhere" },
    { name: "openai/x", baseUrl: `http://me:${KEY}@example.com/v1` },
    { name: "bedrock/x", apiKey: KEY },
    { name: 5, apiKey: KEY },
    { apiKey: KEY },
    { name: "openai/x", apiKey: KEY, other: 1 },
  ];
  const request = { purpose: "p", system: "s", messages: [], maxTokens: 1, schema: null };
  for (const model of attempts) {
    const error = await Memdir.open({ directory: "/srv/memory", env: {}, model }).catch((error) => error);
    assert.ok(error instanceof MemdirError);
    keyless(inspect(error, { depth: null, showHidden: true }) + error.stack, "an error of opening");
    assert.throws(
      () => encodeModelRequest(model, request),
      (error) => {
        keyless(inspect(error, { depth: null, showHidden: true }), "an error of the rule");
        return true;
      },
    );
  }
});
