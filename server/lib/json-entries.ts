/** A member name, a number or a string in a JSON text. */
export type JsonEntry =
  | { kind: "name"; path: string; name: string; duplicate: boolean }
  /** `source`: as it is written; a string with its quotes and escapes. */
  | { kind: "number" | "string"; path: string; source: string };

interface Frame {
  path: string;
  /** Names of an object so far; null for a list. */
  names: Set<string> | null;
  /** Path of the current member or element. */
  current: string;
  index: number;
}

const tokenPattern = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Yields the names, numbers and strings of a JSON text in order, with paths like `items[0].price`. `JSON.parse` does not report
 * duplicate names, nor how a number was written.
 *
 * @param text valid JSON
 */
export function* jsonEntries(text: string): Generator<JsonEntry> {
  const frames: Frame[] = [];
  const tokens = text.match(tokenPattern) ?? [];
  for (const [at, token] of tokens.entries()) {
    const frame = frames.at(-1);
    const path = frame?.current ?? "";
    if (token === "{") frames.push({ path, names: new Set(), current: path, index: 0 });
    else if (token === "[") frames.push({ path, names: null, current: `${path}[0]`, index: 0 });
    else if (token === "}" || token === "]") frames.pop();
    else if (token === "," && frame && !frame.names) frame.current = `${frame.path}[${++frame.index}]`;
    else if (token.startsWith('"') && tokens[at + 1] === ":" && frame?.names) {
      const name = JSON.parse(token) as string;
      frame.current = frame.path === "" ? name : `${frame.path}.${name}`;
      yield { kind: "name", path: frame.current, name, duplicate: frame.names.has(name) };
      frame.names.add(name);
    } else if (token.startsWith('"')) yield { kind: "string", path, source: token };
    else if (/^[-\d]/.test(token)) yield { kind: "number", path, source: token };
  }
}
