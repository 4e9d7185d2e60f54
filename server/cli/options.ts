import { isUuid } from "../lib/uuid.ts";
import { UsageError } from "./command.ts";

/** Options and arguments that several commands have, and how their values are read. */

export const tenantOption = {
  description: "Id of the tenant; by default the default tenant.",
  value: "id",
} as const;

export const jsonOption = { description: "As JSON." } as const;

/**
 * Returns the one of some names that a text is.
 *
 * @param what what they name, for instance "a flow"
 * @throws UsageError that lists them
 */
export function nameOf<Name extends string>(text: string, names: readonly Name[], what: string): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new UsageError(`${text} is not ${what}: ${names.join(", ")}`);
  return found;
}

/** Returns the id of a thing as it is stored; null for a text that no id is. */
export const idOf = (text: string): string | null => (isUuid(text) ? text.toLowerCase() : null);

const MAX_ROWS = 100;

const DEFAULT_ROWS = 20;

const MAX_PAGE = 10_000;

export const limitOption = {
  description: `How many; by default ${DEFAULT_ROWS}, at most ${MAX_ROWS}.`,
  value: "number",
} as const;

export const pageOption = { description: "Which page of them; by default 1.", value: "number" } as const;

/**
 * Reads which part of a list to show.
 *
 * @throws UsageError if a value is out of bounds
 */
export function pageOf({
  limit = String(DEFAULT_ROWS),
  page = "1",
}: {
  limit?: string | undefined;
  page?: string | undefined;
}) {
  return { size: countOf(limit, MAX_ROWS), number: countOf(page, MAX_PAGE) };
}

function countOf(text: string, max: number): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) throw new UsageError(`${text} is not a number from 1 to ${max}`);
  return count;
}

const secondsByUnit: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * Reads a time: RFC 3339, or how long ago, as `15m`, `2h` or `7d`.
 *
 * @throws UsageError for anything else
 */
export function timeOf(text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const time = count
    ? new Date(now.getTime() - Number(count) * (secondsByUnit[unit] ?? 0) * 1000)
    : /^\d{4}-/.test(text)
      ? new Date(text)
      : new Date(Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`${text} is not a time such as 2026-01-31T12:00:00Z, or a duration such as 15m`);
  return time;
}

/**
 * Reads an id that an option names.
 *
 * @throws UsageError if it is not a UUID
 */
export function uuidOf(text: string): string {
  const id = idOf(text);
  if (!id) throw new UsageError(`${text} is not a UUID`);
  return id;
}
