import { type SettingSchema, schemaOf, settingSchema } from "../config/setting-schema.ts";
import type { IgnoredEntry, Path } from "../config/within-bounds.ts";
import { isTree, orderedText, type Tree } from "../lib/tree.ts";

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

/**
 * Puts back what `withoutUnknown` has left out, after a change of the rest. A section keeps it, whatever else the change
 * removes. An item of a list keeps it, wherever it stands, if the item has an `id`, or the rest of it has not changed.
 *
 * @param stored the settings with it; `visible`: without it; `changed`: these after the change
 * @param onLost told of each place of it that the change has removed; may throw
 */
export function withUnknown(
  { stored, visible, changed }: { stored: Tree; visible: Tree; changed: Tree },
  onLost: (path: string) => void,
): Tree {
  return inMembers(stored, visible, changed, settingSchema(), []);

  function putBack(
    whole: unknown,
    rest: unknown,
    after: unknown,
    schema: SettingSchema,
    path: readonly string[],
  ): unknown {
    if (whole === rest) return after;
    if (Array.isArray(whole) && Array.isArray(rest) && Array.isArray(after))
      return inItems(whole, rest, after, schema.items ?? {}, path);
    if (isTree(whole) && isTree(rest) && isTree(after)) return inMembers(whole, rest, after, schema, path);
    onLost(path.join("."));
    return after;
  }

  function inMembers(
    whole: Tree,
    rest: Tree,
    after: Tree,
    schema: SettingSchema,
    path: readonly string[],
  ): Tree {
    const members = new Map(Object.entries(after));
    for (const [name, value] of Object.entries(whole)) {
      const at = [...path, name];
      const below = schemaOf(schema, name);
      if (!Object.hasOwn(rest, name)) {
        if (!members.has(name)) members.set(name, value);
      } else if (members.has(name))
        members.set(name, putBack(value, rest[name], members.get(name), below, at));
      else if (isSection(schema, name) && isTree(value) && isTree(rest[name])) {
        const kept = value === rest[name] ? {} : inMembers(value, rest[name], {}, below, at);
        if (Object.keys(kept).length > 0) members.set(name, kept);
      } else if (value !== rest[name]) onLost(at.join("."));
    }
    return Object.fromEntries(members);
  }

  function inItems(
    whole: readonly unknown[],
    rest: readonly unknown[],
    after: readonly unknown[],
    schema: SettingSchema,
    path: readonly string[],
  ): unknown[] {
    const result = [...after];
    const places = Map.groupBy(after.keys(), (at) => identityOf(after[at]));
    // Items that are the same but for what is left out are told apart by their order.
    const passed = new Map<string, { all: number; kept: number }>();
    for (const [index, item] of whole.entries()) {
      const former = rest[index];
      const identity = identityOf(former);
      const { all, kept } = passed.get(identity) ?? { all: 0, kept: 0 };
      passed.set(identity, { all: all + 1, kept: item === former ? kept : kept + 1 });
      if (item === former) continue;
      const free = places.get(identity) ?? [];
      const [at] = free.splice(Math.min(all - kept, free.length - 1), 1);
      if (at === undefined) onLost(path.join("."));
      else result[at] = putBack(item, former, after[at], schema, path);
    }
    return result;
  }
}

/** Whether a name is that of a section or of its member, and no key that a tenant chose. */
const isSection = ({ properties = {} }: SettingSchema, name: string) => Object.hasOwn(properties, name);

/** What an item of a list is found by after a change: its id, or all of it. */
const identityOf = (item: unknown): string =>
  isTree(item) && typeof item.id === "string" ? `id ${item.id}` : `text ${orderedText(item)}`;
