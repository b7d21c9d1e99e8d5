// Decides what may enter: the types of arguments, and that every text is well-formed. Everything
// else about an argument is decided by the core. It gets copies: a getter of the caller's that throws
// must not do so inside of it.

import { invalidArgument, invalidText, isMemdirError } from "./errors.js";
import type {
  DreamGate,
  ExtractionGate,
  ExtractionState,
  MemoryPlaces,
  NotesState,
  Platform,
  RunReport,
} from "./types.js";

/** A text. */
export function text(value: unknown, name: string): string {
  if (typeof value !== "string") {
    throw invalidArgument(`${name} must be a string, not ${kind(value)}`);
  }
  if (!value.isWellFormed()) {
    throw invalidText(name, loneSurrogate(value));
  }
  return value;
}

/** A text, or nothing. */
export function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, name);
}

/** One of a few texts, or nothing. */
export function optionalChoice(value: unknown, name: string, choices: readonly string[]): string | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const given = typeof value === "string" ? text(value, name) : value;
  if (typeof given !== "string" || !choices.includes(given)) {
    const all = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
    throw invalidArgument(`${name} must be ${all}, not ${typeof given === "string" ? JSON.stringify(given) : kind(given)}`);
  }
  return given;
}

/** Named options, none of which is unknown; nothing at all counts as no options. */
export function options(value: unknown, name: string, known: readonly string[]): Record<string, unknown> {
  if (value === undefined) {
    return {};
  }
  const found = object(value, name);
  for (const key of Object.keys(found)) {
    if (!known.includes(key)) {
      throw invalidArgument(`${name} has no ${JSON.stringify(key)}; it takes ${known.join(", ")}`);
    }
  }
  return found;
}

/** A function, or nothing. */
export function optionalFunction<T>(value: unknown, name: string): T | undefined {
  if (value !== undefined && typeof value !== "function") {
    throw invalidArgument(`${name} must be a function, not ${kind(value)}`);
  }
  return value as T | undefined;
}

/** An abort signal, or nothing. */
export function optionalSignal(value: unknown): AbortSignal | undefined {
  // By what it can do, not by its class: test frameworks and polyfills bring classes of their own.
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  if (value !== undefined && (typeof aborted !== "boolean" || typeof addEventListener !== "function")) {
    throw invalidArgument(`signal must be an AbortSignal, not ${kind(value)}`);
  }
  return value as AbortSignal | undefined;
}

/** The signal of an operation that takes no other option. */
export function signalOf(value: unknown): AbortSignal | undefined {
  return optionalSignal(options(value, "options", ["signal"])["signal"]);
}

/** True or false, or nothing. */
export function optionalFlag(value: unknown, name: string): boolean | undefined {
  return value === undefined ? undefined : flag(value, name);
}

/** True or false. */
export function flag(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") {
    throw invalidArgument(`${name} must be true or false, not ${kind(value)}`);
  }
  return value;
}

/** A time in whole milliseconds. */
export function time(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value)) {
    throw invalidArgument(`${name} must be a whole number of milliseconds, not ${shown(value)}`);
  }
  return value as number;
}

/** A time in whole milliseconds, or nothing. */
export function optionalTime(value: unknown, name: string): number | undefined {
  return value === undefined || value === null ? undefined : time(value, name);
}

/** A whole number that fits 32 bits, or one from `min` to `max`. */
export function count(value: unknown, name: string, max = 0xffff_ffff, min = 0): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw invalidArgument(`${name} must be a whole number from ${min} to ${max}, not ${shown(value)}`);
  }
  return value;
}

/** A whole number that fits 32 bits, or nothing. */
export function optionalCount(value: unknown, name: string): number | undefined {
  return value === undefined || value === null ? undefined : count(value, name);
}

/** How many are wanted at most, or nothing. */
export function optionalLimit(value: unknown, name: string): number | undefined {
  return value === undefined || value === null ? undefined : count(value, name, 0xffff_ffff, 1);
}

/** How long, in whole milliseconds, or nothing. */
export function optionalDuration(value: unknown, name: string): number | undefined {
  return value === undefined || value === null ? undefined : count(value, name, Number.MAX_SAFE_INTEGER);
}

/** A number of bytes or tokens. */
export function size(value: unknown, name: string): number {
  return count(value, name, Number.MAX_SAFE_INTEGER);
}

/** A number of bytes or tokens, or nothing. */
export function optionalSize(value: unknown, name: string): number | undefined {
  return value === undefined || value === null ? undefined : size(value, name);
}

/** Texts by name. */
export function entries(value: unknown, name: string): Record<string, string> {
  const given = Object.entries(object(value, name));
  for (const [key, content] of given) {
    text(key, `a key of ${name}`);
    text(content, `${name}[${JSON.stringify(key)}]`);
  }
  return Object.fromEntries(given) as Record<string, string>;
}

/** An environment; a variable that is undefined is not set. */
export function environment(value: unknown, name: string): Record<string, string> {
  const given = Object.entries(object(value, name)).filter(([, content]) => content !== undefined);
  return entries(Object.fromEntries(given), name);
}

/** An object as JSON text, or nothing. */
export function optionalJson(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : json(value, name);
}

/** An object as JSON text. */
export function json(value: unknown, name: string): string {
  const checked = (key: string, item: unknown) => {
    text(key, `a key of ${name}`);
    return typeof item === "string" ? text(item, `${name}.${key}`) : item;
  };
  try {
    return JSON.stringify(object(value, name), checked);
  } catch (error) {
    if (isMemdirError(error)) {
      throw error;
    }
    throw invalidArgument(`${name} must be what JSON can hold: ${String(error)}`);
  }
}

/**
 * JSON text, or what is to become it. Nothing in it is looked at, so that the text is what others make of the
 * same value, too.
 */
export function jsonText(value: unknown, name: string): string {
  if (typeof value === "string") {
    return text(value, name);
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    throw invalidArgument(`${name} must be what JSON can hold: ${String(error)}`);
  }
  if (json === undefined) {
    throw invalidArgument(`${name} must be what JSON can hold, not ${kind(value)}`);
  }
  return json;
}

/** A list whose items the core looks at by itself, where it needs them. */
export function items(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) {
    throw invalidArgument(`${name} must be a list, not ${kind(value)}`);
  }
  return Array.from(value);
}

/** A list of texts. */
export function texts(value: unknown, name: string): string[] {
  return listOf(value, name, text);
}

/** A list, each item checked by `item`. */
export function listOf<T>(value: unknown, name: string, item: (value: unknown, name: string) => T): T[] {
  if (!Array.isArray(value)) {
    throw invalidArgument(`${name} must be a list, not ${kind(value)}`);
  }
  return Array.from(value, (one: unknown, index) => item(one, `${name}[${index}]`));
}

/** What a tool gave. */
export function toolResult(value: unknown, name: string): { tool: string; ok: boolean | null } {
  const { tool, ok } = options(object(value, name), name, ["tool", "ok"]);
  return { tool: text(tool, `${name}.tool`), ok: optionalFlag(ok ?? undefined, `${name}.ok`) ?? null };
}

/** One message to a model. */
export function message(value: unknown, name: string): { role: string; content: string } {
  const { role, content } = options(object(value, name), name, ["role", "content"]);
  return { role: text(role, `${name}.role`), content: text(content, `${name}.content`) };
}

/** What a model is asked by HTTP: which one, and what else is given. */
export function model(value: unknown, name: string): { name: string; apiKey: string | undefined; baseUrl: string | undefined } {
  const given = options(typeof value === "string" ? { name: value } : object(value, name), name, ["name", "apiKey", "baseUrl"]);
  return {
    name: text(given["name"], `${name}.name`),
    apiKey: optionalText(given["apiKey"], `${name}.apiKey`),
    baseUrl: optionalText(given["baseUrl"], `${name}.baseUrl`),
  };
}

/** Where memories are. */
export function places(value: unknown, name: string): MemoryPlaces {
  const given = options(object(value, name), name, ["platform", "store", "configHome", "agents", "overridden"]);
  return {
    platform: text(given["platform"], `${name}.platform`) as Platform,
    store: optionalText(given["store"], `${name}.store`) ?? null,
    configHome: optionalText(given["configHome"], `${name}.configHome`) ?? null,
    agents: texts(given["agents"], `${name}.agents`),
    overridden: flag(given["overridden"], `${name}.overridden`),
  };
}

/** How far extractions have come. */
export function extractionState(value: unknown, name: string): ExtractionState {
  const given = options(object(value, name), name, ["cursor", "turns"]);
  return {
    cursor: optionalText(given["cursor"], `${name}.cursor`) ?? null,
    turns: count(given["turns"], `${name}.turns`),
  };
}

/** How far the notes of a session have come, or nothing. */
export function optionalNotesState(value: unknown, name: string): NotesState | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const given = options(value, name, ["lastTokens", "cursor", "lastSummarised"]);
  return {
    lastTokens: optionalSize(given["lastTokens"], `${name}.lastTokens`) ?? null,
    cursor: optionalText(given["cursor"], `${name}.cursor`) ?? null,
    lastSummarised: optionalText(given["lastSummarised"], `${name}.lastSummarised`) ?? null,
  };
}

/** What decides on a dream. */
export function dreamGate(value: unknown, name: string): DreamGate {
  const given = options(object(value, name), name, [...DREAM_GATE, "nowMs", "lastMs", "countedMs", "sessions"]);
  const flags = DREAM_GATE.map((key) => [key, flag(given[key], `${name}.${key}`)]);
  return {
    ...(Object.fromEntries(flags) as Record<(typeof DREAM_GATE)[number], boolean>),
    nowMs: time(given["nowMs"], `${name}.nowMs`),
    lastMs: optionalTime(given["lastMs"], `${name}.lastMs`),
    countedMs: optionalTime(given["countedMs"], `${name}.countedMs`),
    sessions: optionalCount(given["sessions"], `${name}.sessions`),
  };
}

const DREAM_GATE = ["dream", "enabled", "remote", "dailyLog"] as const;

/** What decides on an extraction besides the messages. */
export function extractionGate(value: unknown, name: string): ExtractionGate {
  const given = options(object(value, name), name, ["agent", ...GATE, "every", "places"]);
  const flags = GATE.map((key) => [key, flag(given[key], `${name}.${key}`)]);
  const where = given["places"] ?? null;
  return {
    ...(Object.fromEntries(flags) as Record<(typeof GATE)[number], boolean>),
    agent: text(given["agent"], `${name}.agent`) as ExtractionGate["agent"],
    every: count(given["every"], `${name}.every`),
    places: where === null ? null : places(where, `${name}.places`),
  };
}

const GATE = ["interactive", "remote", "extract", "extractNonInteractive", "running", "trailing"] as const;

/** What came of a run; nothing at all counts as one that came to its end. */
export function runReport(value: unknown, name: string): RunReport {
  const given = options(value, name, ["error", "turns", "usage"]);
  const usage = options(given["usage"], `${name}.usage`, USAGE);
  return {
    error: optionalText(given["error"], `${name}.error`),
    turns: optionalCount(given["turns"], `${name}.turns`) ?? 0,
    usage: Object.fromEntries(
      USAGE.map((kind) => [kind, size(usage[kind] ?? 0, `${name}.usage.${kind}`)]),
    ) as unknown as RunReport["usage"],
  };
}

const USAGE = ["input", "output", "cached", "written"] as const;

/** Without what is undefined, which stays as the core has it. */
export function named(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, setting]) => setting !== undefined));
}

/** Whose memory is opened; which scopes there are is the core's to say. */
export function agent(value: unknown, name: string): { name: string; scope: string } {
  const given = options(object(value, name), name, ["name", "scope"]);
  return { name: text(given["name"], `${name}.name`), scope: text(given["scope"], `${name}.scope`) };
}

/**
 * An object of texts, of which each may be left out; which of them are needed, and what they may say,
 * is the core's to check.
 */
export function optionalTexts<K extends string>(value: unknown, name: string, known: readonly K[]): Partial<Record<K, string>> {
  const given = options(object(value, name), name, known);
  const texts = known.map((key) => [key, optionalText(given[key], `${name}.${key}`)]);
  return Object.fromEntries(texts) as Partial<Record<K, string>>;
}

/** A list of flat objects whose texts are well-formed; their shape is the core's to check. */
export function list<T>(value: unknown, name: string): T[] {
  if (!Array.isArray(value)) {
    throw invalidArgument(`${name} must be a list, not ${kind(value)}`);
  }
  return Array.from(value, (item, index) => {
    const given = Object.entries(object(item, `${name}[${index}]`));
    for (const [key, content] of given) {
      if (typeof content === "string") {
        text(content, `${name}[${index}].${key}`);
      } else if ((typeof content === "object" && content !== null) || typeof content === "function") {
        throw invalidArgument(`${name}[${index}].${key} must be a plain value, not ${kind(content)}`);
      }
    }
    return Object.fromEntries(given) as T;
  });
}

function object(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidArgument(`${name} must be an object, not ${kind(value)}`);
  }
  return value as Record<string, unknown>;
}

function kind(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  return Array.isArray(value) ? "a list" : typeof value;
}

/** A number itself, of everything else the kind. */
function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : kind(value);
}

/** Where the first half of a pair stands, in UTF-16 units. */
function loneSurrogate(value: string): number {
  let position = 0;
  for (const character of value) {
    if (!character.isWellFormed()) {
      break;
    }
    position += character.length;
  }
  return position;
}
