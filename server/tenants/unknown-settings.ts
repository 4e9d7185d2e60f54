import { type SettingSchema, schemaOf, settingSchema } from "../config/setting-schema.ts";
import type { IgnoredEntry, Path } from "../config/within-bounds.ts";
import { isTree, orderedText, type Tree } from "../lib/tree.ts";
import { samlProviderId } from "./saml-provider-id.ts";

/**
 * Settings of a tenant that this version does not know. A later version has stored them, and may leave them to the operator:
 * a tenant that changes its settings itself neither sees them nor changes them, and an operator does not lose them by
 * stating the list that they are in.
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
    // In the order in which they are stored, so that what has not changed reads the same.
    const members = new Map<string, unknown>();
    for (const [name, value] of Object.entries(whole)) {
      const at = [...path, name];
      const below = schemaOf(schema, name);
      const isKnown = Object.hasOwn(rest, name);
      if (Object.hasOwn(after, name))
        members.set(name, isKnown ? putBack(value, rest[name], after[name], below, at) : after[name]);
      else if (!isKnown) members.set(name, value);
      else if (value === rest[name]) continue;
      else if (isSection(schema, name)) {
        const kept = putBack(value, rest[name], {}, below, at) as Tree;
        if (Object.keys(kept).length > 0) members.set(name, kept);
      } else onLost(at.join("."));
    }
    for (const [name, value] of Object.entries(after)) if (!members.has(name)) members.set(name, value);
    return Object.fromEntries(members);
  }

  function inItems(
    whole: readonly unknown[],
    rest: readonly unknown[],
    after: readonly unknown[],
    schema: SettingSchema,
    path: readonly string[],
  ): unknown[] {
    const list = path.join(".");
    const result = [...after];
    const places = Map.groupBy(after.keys(), (at) => identityOf(after[at], list));
    // Items that are the same but for what is left out are told apart by their order.
    for (const [identity, formers] of Map.groupBy(rest.keys(), (at) => identityOf(rest[at], list))) {
      const left = places.get(identity) ?? [];
      let surplus = formers.length - left.length;
      const kept = formers.filter((at) => whole[at] !== rest[at] || surplus-- <= 0);
      for (const [number, at] of kept.entries()) {
        const place = left[number];
        if (place !== undefined) result[place] = putBack(whole[at], rest[at], after[place], schema, path);
        else if (whole[at] !== rest[at]) onLost(list);
      }
    }
    return result;
  }
}

/** Whether a name is that of a section, which may be empty, and no key that a tenant chose. */
function isSection({ properties = {} }: SettingSchema, name: string): boolean {
  const section = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return section?.properties !== undefined && !section.required?.length;
}

/** What an item of a list is found by after a change: its id, or all of it. */
function identityOf(item: unknown, list: string): string {
  if (!isTree(item)) return `text ${orderedText(item)}`;
  if (list === "saml.identity_providers") return `id ${samlProviderId(item)}`;
  return typeof item.id === "string" ? `id ${item.id}` : `text ${orderedText(item)}`;
}
