import { type Json, TemplateError } from "../lib/go-template.ts";

/**
 * Reads a value by a path of the GJSON syntax: names and list positions separated by `.`, `\` before a character that
 * belongs to a name, and `#` for the length of a list or, with a path after it, for that value of each element.
 *
 * @returns undefined if there is no such value
 * @throws TemplateError for the queries, modifiers and patterns of GJSON, which are not supported
 */
export function jsonPath(value: Json, path: string): Json | undefined {
  return read(value, namesOf(path));
}

function read(value: Json, [name, ...rest]: readonly string[]): Json | undefined {
  if (name === undefined) return value;
  if (Array.isArray(value)) {
    if (name === "#") {
      if (rest.length === 0) return value.length;
      return value.flatMap((item) => {
        const found = read(item, rest);
        return found === undefined ? [] : [found];
      });
    }
    const item = /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
    return item === undefined ? undefined : read(item, rest);
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return read(value[name] ?? null, rest);
}

/** Splits a path at its dots. */
function namesOf(path: string): string[] {
  const names = [""];
  for (let at = 0; at < path.length; at++) {
    const character = path.charAt(at);
    if (character === ".") names.push("");
    else if ("|@!*?(".includes(character)) throw new TemplateError(`${path} is not a supported path`);
    else names.push((names.pop() ?? "") + (character === "\\" ? path.charAt(++at) : character));
  }
  return names;
}
