import type { IgnoredEntry, Path } from "../config/within-bounds.ts";
import { isTree, type Tree } from "../lib/tree.ts";

/**
 * Settings of a tenant that this version does not know. A later version has stored them, and may leave them to the operator:
 * a tenant that changes its settings itself neither sees them nor changes them.
 */

/** Returns settings without the entries that have no name of a setting. */
export function withoutUnknown(settings: Tree, ignored: readonly IgnoredEntry[]): Tree {
  const paths = ignored.flatMap(({ unknown }) => (unknown ? [unknown] : []));
  return without(settings, paths) as Tree;
}

/** The same value where nothing is left out of it. */
function without(value: unknown, paths: readonly Path[]): unknown {
  if (paths.length === 0 || typeof value !== "object" || value === null) return value;
  const below = new Map<string, Path[]>();
  for (const [first, ...rest] of paths) {
    const inside = below.get(String(first)) ?? [];
    inside.push(rest);
    below.set(String(first), inside);
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    const inside = below.get(name) ?? [];
    return inside.some((path) => path.length === 0) ? [] : [[name, without(member, inside)] as const];
  });
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

const idOf = (item: unknown) => (isTree(item) && typeof item.id === "string" ? item.id : null);

/**
 * Puts back what `withoutUnknown` has left out, after a change of the rest. An item of a list keeps it, wherever it
 * stands, if the item has an `id`, or the rest of it has not changed.
 *
 * @param stored the settings with it; `visible`: without it; `changed`: these after the change
 * @param onLost returns the error for a place of it that the change has removed
 * @throws that error
 */
export function withUnknown(
  stored: Tree,
  visible: Tree,
  changed: Tree,
  onLost: (path: string) => Error,
): Tree {
  return putBack(stored, visible, changed) as Tree;

  function putBack(whole: unknown, rest: unknown, after: unknown, path: readonly string[] = []): unknown {
    if (whole === rest) return after;
    if (Array.isArray(whole) && Array.isArray(rest) && Array.isArray(after))
      return inItems(whole, rest, after);
    if (!isTree(whole) || !isTree(rest) || !isTree(after)) throw onLost(path.join("."));
    const members = new Map(Object.entries(after));
    for (const [name, value] of Object.entries(whole)) {
      const at = [...path, name];
      if (!Object.hasOwn(rest, name)) members.set(name, value);
      else if (rest[name] !== value) {
        if (!members.has(name)) throw onLost(at.join("."));
        members.set(name, putBack(value, rest[name], members.get(name), at));
      }
    }
    return Object.fromEntries(members);

    function inItems(items: unknown[], before: unknown[], now: unknown[]): unknown[] {
      const result: unknown[] = [...now];
      const left = now.map((item) => ({ text: JSON.stringify(item), id: idOf(item) }));
      for (const [index, item] of items.entries()) {
        const former = before[index];
        if (item === former) continue;
        const id = idOf(former);
        const at = left.findIndex((one) =>
          id === null ? one.text === JSON.stringify(former) : one.id === id,
        );
        if (at === -1) throw onLost(path.join("."));
        left[at] = { text: "", id: null };
        result[at] = putBack(item, former, now[at], path);
      }
      return result;
    }
  }
}
