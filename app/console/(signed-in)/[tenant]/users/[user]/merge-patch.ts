/** JSON Merge Patches (RFC 7396) between two objects. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the patch that makes one object of another one. It names what differs alone, so that what is changed elsewhere at the
 * same time stays.
 *
 * @param after contains no null as a member of an object, which a patch cannot set
 */
export function mergePatchBetween(before: Json, after: Json): Json {
  const patch: Json = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const former = Object.hasOwn(before, name) ? before[name] : undefined;
    if (isObject(former) && isObject(value)) {
      const inner = mergePatchBetween(former, value);
      if (Object.keys(inner).length > 0) patch[name] = inner;
    } else if (JSON.stringify(former) !== JSON.stringify(value)) patch[name] = value;
  }
  return patch;
}

/** Whether an object has null as a member, which a patch would take for a removal. Nulls in arrays are values. */
export const hasNullMember = (value: unknown): boolean =>
  isObject(value) && Object.values(value).some((inner) => inner === null || hasNullMember(inner));
