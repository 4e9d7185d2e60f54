import { maskName } from "../audit/mask.ts";
import { isTree } from "../lib/tree.ts";

/** What a change of the console has changed, for the audit log: a list of members with their values before and after. */

/** The most members of one entry. */
const MAX_MEMBERS = 30;

/** Characters of one value. */
const MAX_CHARACTERS = 200;

/**
 * Compares two readings of one resource.
 *
 * @param before as JSON; null if there was none
 * @param after the same after the change; null if there is none
 * @param options `tellsTexts`: whether texts are told, with masked email addresses. Of users they are not: times, numbers and
 *   flags are
 * @returns lines such as `enabled: true → false`
 */
export function changesBetween(
  before: unknown,
  after: unknown,
  { tellsTexts }: { tellsTexts: boolean },
): string[] {
  if (after === null) return before === null ? [] : ["deleted"];
  const shown = (json: string | undefined) => shownValue(json, tellsTexts);
  const [former, present] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...former.keys(), ...present.keys()])];
  const changed = paths.filter(
    (path) => former.get(path) !== present.get(path) && !/(^|\.)updated_at$/.test(path),
  );
  const lines = changed
    .slice(0, MAX_MEMBERS)
    .map((path) => `${path}: ${shown(former.get(path))} → ${shown(present.get(path))}`);
  const left = changed.length - lines.length;
  return left > 0 ? [...lines, `and ${left} more`] : lines;
}

/** Every leaf by its path, as JSON. */
function leavesOf(value: unknown, path = ""): Map<string, string> {
  if (value === null || value === undefined) return new Map();
  const members = Array.isArray(value)
    ? value.map((member, index) => [`${path}[${index}]`, member] as const)
    : isTree(value)
      ? Object.entries(value).map(
          ([name, member]) => [path === "" ? name : `${path}.${name}`, member] as const,
        )
      : null;
  if (!members) return new Map([[path, JSON.stringify(value)]]);
  return new Map(members.flatMap(([at, member]) => [...leavesOf(member, at)]));
}

function shownValue(json: string | undefined, tellsTexts: boolean): string {
  if (json === undefined) return "none";
  const isText = json.startsWith('"') && !isoTime.test(json);
  if (isText && !tellsTexts) return "***";
  // Shortened first: what a tenant sets may be long.
  const short = json.length > MAX_CHARACTERS ? `${json.slice(0, MAX_CHARACTERS)}…` : json;
  return short.replace(/[^\s"<>@]+@[^\s"<>@]+/g, (address) => maskName(address));
}

const isoTime = /^"\d{4}-\d\d-\d\dT[\d:.]+Z"$/;
