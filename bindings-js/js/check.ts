// Decides what may enter: the types of arguments, and that every text is well-formed. Everything
// else about an argument is decided by the core. It gets copies: a getter of the caller's that throws
// must not do so inside of it.

import { invalidArgument, invalidText, isMemdirError } from "./errors.js";

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

/** A whole number that fits 32 bits, or nothing. */
export function optionalCount(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw invalidArgument(`${name} must be a whole number from 0 to 4294967295, not ${shown(value)}`);
  }
  return value;
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
  if (value === undefined || value === null) {
    return undefined;
  }
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

/** A list of texts. */
export function texts(value: unknown, name: string): string[] {
  if (!Array.isArray(value)) {
    throw invalidArgument(`${name} must be a list, not ${kind(value)}`);
  }
  return value.map((item, index) => text(item, `${name}[${index}]`));
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
