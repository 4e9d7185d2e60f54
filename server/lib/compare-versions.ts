/**
 * Compares two versions by the precedence of Semantic Versioning 2.0.0, section 11. Build metadata does not count.
 *
 * @returns below 0 if the first one precedes, above 0 if the second one does, 0 for equal ones
 * @throws RangeError for a text that is no version
 */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [parse(one), parse(other)];
  for (const [index, part] of first.core.entries()) {
    const difference = part - (second.core[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // A version precedes the release that it is a preview of.
  if (first.preview.length === 0 || second.preview.length === 0)
    return second.preview.length - first.preview.length;
  for (let index = 0; index < Math.max(first.preview.length, second.preview.length); index++) {
    const difference = compareIdentifiers(first.preview[index], second.preview[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function parse(version: string): { core: number[]; preview: string[] } {
  const found = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(version);
  if (!found) throw new RangeError(`${version} is not a version`);
  const [, major, minor, patch, preview] = found;
  return { core: [major, minor, patch].map(Number), preview: preview?.split(".") ?? [] };
}

/** Numbers precede words, and a shorter list precedes a longer one. */
function compareIdentifiers(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}
