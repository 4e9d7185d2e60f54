import type { z } from "zod";
import { sha256 } from "../lib/sha256.ts";
import { isTree, merge, orderedText, type Tree, valueAt } from "../lib/tree.ts";
import type { BoundMark } from "./sections/leaves.ts";

/** An entry that is beyond a bound or has no name of a setting, and is therefore not used. */
export interface IgnoredEntry {
  /** Names the setting and what is wrong with the entry. */
  fault: string;
  /** The same with what becomes of the entry; for logs and operators. */
  line: string;
  /** Identifies setting and value, so that a later check can tell whether a change has added the entry. */
  entry: string;
  /** Its path, if this is the name of no setting, or of none that may stand here. */
  unknown?: Path;
}

/** Names of sections and members, and positions in lists. */
export type Path = readonly (string | number)[];

/** Why an entry is not used. */
interface Violation {
  path: Path;
  /** Names the setting. */
  fault: string;
  isUnknown?: true;
  /** For a list or map: the number of its first members that stay. */
  keep?: number;
}

/** More entries without a name of a setting than this are a fault: no version stores as many that another does not know. */
const MAX_UNKNOWN = 1_000;

/** Each round removes every entry that it finds; a removed required member makes one more, for the entry around it. */
const MAX_ROUNDS = 20;

/**
 * Parses settings, without entries that are beyond a bound of length or number: bounds came later than some
 * configurations, and stop no server and no tenant. Any other fault of the settings stays one.
 *
 * A member beyond its bound falls back to that of `base`; a list or map with too many members keeps the first; an item
 * whose required member is beyond a bound is left out as a whole.
 *
 * @param settings those of `over` override those of `base`
 * @param nameOf names a setting in messages
 * @param ignoreUnknown whether entries without a name of a setting are left out too
 */
export function parseWithinBounds<Parsed>(
  schema: z.ZodType<Parsed>,
  settings: { base: Tree; over: Tree },
  nameOf: (path: readonly PropertyKey[]) => string,
  ignoreUnknown: boolean,
): { parsed: z.ZodSafeParseResult<Parsed>; ignored: IgnoredEntry[] } {
  const faultAt = (path: Path, message: string) => `${nameOf(path)}${positionIn(path)}: ${message}`;
  const ignored: IgnoredEntry[] = [];
  const removed: Path[] = [];
  let { base, over } = settings;
  for (let round = 0; ; round++) {
    const tree = merge(base, over);
    const parsed = schema.safeParse(tree);
    if (parsed.success || round === MAX_ROUNDS) return { parsed, ignored };
    const unknown = parsed.error.issues.flatMap((issue) => ("keys" in issue ? issue.keys : []));
    const seen = new Set<string>();
    const violations = parsed.error.issues
      .flatMap((issue): Violation[] => {
        if (issue.code === "unrecognized_keys" && ignoreUnknown && unknown.length <= MAX_UNKNOWN)
          return issue.keys.map((name) => {
            const path = [...(issue.path as Path), name];
            return { path, fault: `${nameOf(path)} is not a setting`, isUnknown: true };
          });
        const violation = violationOf(issue, { tree, base, over }, removed);
        return violation ? [{ ...violation, fault: faultAt(violation.path, violation.message) }] : [];
      })
      .filter(({ path }) => {
        const place = JSON.stringify(path);
        return !seen.has(place) && seen.add(place);
      });
    if (violations.length === 0) return { parsed, ignored };
    for (const { path, fault, keep, isUnknown } of violations) {
      ignored.push({
        fault,
        line: `${fault}; ${keep === undefined ? "it is" : "the others are"} ignored`,
        entry: entryOf(path, valueAt(tree, path)),
        ...(isUnknown ? { unknown: path } : {}),
      });
      removed.push(path);
    }
    const [inOver, inBase] = [true, false].map((is) =>
      violations.filter(({ path }) => (valueAt(over, path) !== undefined) === is),
    );
    over = pruned(over, inOver ?? []) as Tree;
    base = pruned(base, inBase ?? []) as Tree;
  }
}

/**
 * Returns the bound that an issue is about; undefined if it is about something else.
 *
 * @param removed entries that were removed before: what is missing without them is removed too
 */
function violationOf(
  issue: z.core.$ZodIssue,
  { tree, base, over }: Record<"tree" | "base" | "over", Tree>,
  removed: readonly Path[],
): (Omit<Violation, "fault"> & { message: string }) | undefined {
  const path = issue.path as (string | number)[];
  const { message } = issue;
  // Members of `base` count too, and stay.
  const keeping = (maximum: number) =>
    removed.some((other) => isEqual(other, path))
      ? {}
      : { keep: Math.max(0, maximum - countInherited(valueAt(base, path), valueAt(over, path))) };
  if (issue.code === "too_big" && issue.origin === "string") return { path, message: tooLong(issue) };
  if (issue.code === "too_big" && issue.origin === "array")
    return {
      path,
      message: `must not have more than ${issue.maximum} entries`,
      ...keeping(Number(issue.maximum)),
    };
  if (issue.code === "custom" && isMark(issue.params)) {
    const { maximum } = issue.params;
    return { path, message, ...(maximum === undefined ? {} : keeping(maximum)) };
  }
  if (issue.code === "invalid_key") {
    const [inner] = issue.issues;
    return inner?.code === "too_big" ? { path, message: `the name ${tooLong(inner)}` } : undefined;
  }
  if (path.length > 0 && removed.some((other) => isBelow(other, path))) return { path, message };
  const isMissing = removed.some((other) => isEqual(other, path)) && valueAt(tree, path) === undefined;
  return isMissing && path.length > 1
    ? { path: path.slice(0, -1), message: `${String(path.at(-1))} is missing` }
    : undefined;
}

/** Counts the members of a map of `base` that `over` does not replace. A list of `over` replaces that of `base`. */
function countInherited(base: unknown, over: unknown): number {
  if (!isTree(base) || !isTree(over)) return 0;
  return Object.keys(base).filter((name) => !Object.hasOwn(over, name)).length;
}

const tooLong = ({ maximum }: { maximum: number | bigint }) =>
  `must not be longer than ${maximum} characters`;

const isBelow = (path: Path, other: Path) =>
  path.length > other.length && isEqual(path.slice(0, other.length), other);

const isEqual = (one: Path, other: Path) =>
  one.length === other.length && one.every((part, index) => part === other[index]);

const isMark = (params: unknown): params is BoundMark => (params as BoundMark | undefined)?.bound === true;

/** Tells the position of a list's item, which is no part of the setting's name. Counted from one, as people do. */
function positionIn(path: Path): string {
  const index = path.findLast((part) => typeof part === "number");
  return index === undefined ? "" : ` (number ${index + 1})`;
}

/** Identifies an entry: without positions in lists, which a change of other items shifts; without the value, which may be long or a secret. */
export const entryOf = (path: Path, value: unknown) =>
  `${path.filter((part) => typeof part === "string").join(".")} ${sha256(orderedText(value) ?? "").toString("base64url")}`;

/** Returns a copy of a value without the entries of some paths, which are relative to it. */
function pruned(value: unknown, violations: readonly Violation[]): unknown {
  const here = violations.find(({ path }) => path.length === 0);
  if (typeof value !== "object" || value === null || violations.length === 0) return value;
  const members = (Array.isArray(value) ? [...value.entries()] : Object.entries(value)).slice(0, here?.keep);
  const below = new Map<string | number, Violation[]>();
  for (const { path, ...rest } of violations) {
    const [first, ...others] = path;
    if (first === undefined) continue;
    const inside = below.get(first) ?? [];
    inside.push({ ...rest, path: others });
    below.set(first, inside);
  }
  const kept = members.flatMap(([name, member]) => {
    const concerning = below.get(name) ?? [];
    const isRemoved = concerning.some(({ path, keep }) => path.length === 0 && keep === undefined);
    return isRemoved ? [] : [[name, pruned(member, concerning)] as const];
  });
  return Array.isArray(value) ? kept.map(([, member]) => member) : Object.fromEntries(kept);
}
