/** Whether objects and arrays of a JSON value are nested more than a number of levels deep. */
export function isNestedDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isNestedDeeperThan(member, levels - 1));
}
