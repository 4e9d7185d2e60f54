/** Trees of objects as JSON has them, such as settings. */
export type Tree = Record<string, unknown>;

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the tree that a tree has under a name; an empty one if it has none there. */
export function subtree(value: unknown, name: string): Tree {
  const below = isTree(value) ? value[name] : undefined;
  return isTree(below) ? below : {};
}

/** Returns the value at a path, whose numbers are positions in lists; undefined if there is none. */
export function valueAt(value: unknown, [first, ...rest]: readonly (string | number)[]): unknown {
  if (first === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, first)) return undefined;
  return valueAt((value as Record<string | number, unknown>)[first], rest);
}

/** Returns a copy of a tree with another value at a path. */
export function withValueAt(tree: Tree, [name, ...rest]: readonly string[], value: unknown): Tree {
  if (name === undefined) return tree;
  return { ...tree, [name]: rest.length === 0 ? value : withValueAt(subtree(tree, name), rest, value) };
}

/**
 * Merges two trees: a leaf of `over` replaces that of `base`. Lists are replaced, not joined. Every name is data, `__proto__`
 * included: no property is assigned.
 */
export function merge(base: Tree, over: Tree): Tree {
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isTree(below) && isTree(value) ? merge(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Returns a value as JSON whose members are in the order of their names: the same text for equal values. */
export function orderedText(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    isTree(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
