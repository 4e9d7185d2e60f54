import { type Json, spend, TemplateError } from "../lib/go-template.ts";
import type { StepBudget } from "../lib/step-budget.ts";

/**
 * Reads a value by a path of the GJSON syntax: names and list positions separated by `.`, `\` before a character that
 * belongs to a name, and `#` for the length of a list or, with a path after it, for that value of each element.
 *
 * @param steps each character of the path, and each value on its way, is a step
 * @returns undefined if there is no such value
 * @throws TemplateError for the queries, modifiers and patterns of GJSON, which are not supported; if the budget is used up
 */
export function jsonPath(value: Json, path: string, steps: StepBudget): Json | undefined {
  spend(steps, path.length);
  return read(value, namesOf(path), 0, steps);
}

/** @param at index of the first name that is still to be read */
function read(value: Json, names: readonly string[], at: number, steps: StepBudget): Json | undefined {
  spend(steps);
  const name = names[at];
  if (name === undefined) return value;
  if (Array.isArray(value)) {
    if (name === "#") {
      if (at === names.length - 1) return value.length;
      return value.flatMap((item) => {
        const found = read(item, names, at + 1, steps);
        return found === undefined ? [] : [found];
      });
    }
    const item = /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
    return item === undefined ? undefined : read(item, names, at + 1, steps);
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return read(value[name] ?? null, names, at + 1, steps);
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
