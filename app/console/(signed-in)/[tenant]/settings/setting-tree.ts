import type { Patch } from "../../../_parts/settings-form.tsx";

/** Changes of settings, and the patch that they make. */

const isTree = (value: unknown): value is Patch =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A change of one setting; null sets it to its default. */
export interface Change {
  /** Names of its sections and its own, separated by dots. */
  name: string;
  /** What the tenant has set before; undefined for nothing. */
  before: unknown;
  value: unknown;
}

/** Makes the JSON Merge Patch (RFC 7396) of changes. A map is replaced as a whole: members that are no longer in it are removed. */
export function mergePatchOf(changes: readonly Change[]): Patch {
  const patch: Patch = {};
  for (const { name: path, before, value } of changes) {
    const names = path.split(".");
    let at = patch;
    for (const name of names.slice(0, -1)) {
      const below = isTree(at[name]) ? (at[name] as Patch) : {};
      at[name] = below;
      at = below;
    }
    at[names.at(-1) ?? ""] = replacing(before, value);
  }
  return patch;
}

function replacing(before: unknown, after: unknown): unknown {
  if (!isTree(after)) return after;
  const known = isTree(before) ? before : {};
  const gone = Object.keys(known).filter((name) => !Object.hasOwn(after, name));
  return {
    ...Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, replacing(known[name], value)]),
    ),
    ...Object.fromEntries(gone.map((name) => [name, null])),
  };
}
