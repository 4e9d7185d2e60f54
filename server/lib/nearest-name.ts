/** Characters of a name that are compared: the distance takes time in proportion to the product of two lengths. */
const MAX_LENGTH = 100;

/**
 * Finds the name that a misspelt one was probably meant to be.
 *
 * @returns the nearest of the candidates, of equally near ones the first; null if none differs in a third of its
 *   characters at most
 */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  let nearest: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const limit = Math.max(1, Math.floor(candidate.length / 3));
    if (Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < fewest) [nearest, fewest] = [candidate, distance];
  }
  return nearest;
}

/** The number of characters to insert, delete, replace, or swap with their neighbour (optimal string alignment). */
function editDistance(from: string, to: string): number {
  if (from.length > MAX_LENGTH || to.length > MAX_LENGTH) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at += 1) {
    const next = [at];
    for (let index = 1; index <= to.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (from[at - 1] === to[index - 1] ? 0 : 1);
      const swapped =
        at > 1 && index > 1 && from[at - 1] === to[index - 2] && from[at - 2] === to[index - 1]
          ? (before[index - 2] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
