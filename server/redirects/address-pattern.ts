/**
 * URL patterns: `*` matches within a host label or path segment, `**` across labels or segments. In a host both match at
 * least one character. A query is matched by the part of the pattern after its `?`.
 */

/** One step of a pattern: the characters it matches, and whether it repeats. */
interface Step {
  takes(character: string): boolean;
  repeats: boolean;
}

const patternParts = /^(https?:\/\/)([^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/;

/** `https://app.example**`: every URL of that origin, a notation of other services. */
const wholeOrigin = /^(https?:\/\/[^/?#*]+)\*\*$/;

/** A host that ends in a wildcard would match domains registered by others. A wildcard port is allowed. */
const wildcardEnd = /\*(?::[^:\]]*)?$/;

/**
 * Whether a normalized URL matches a pattern. Takes time in proportion to both lengths, because the URL is untrusted.
 */
export function matchesPattern(pattern: string, address: URL): boolean {
  const [, origin] = wholeOrigin.exec(pattern) ?? [];
  if (origin !== undefined) return URL.canParse(origin) && new URL(origin).origin === address.origin;
  const parts = patternParts.exec(pattern);
  if (!parts) return false;
  const [, scheme = "", host = "", path = "/", query = ""] = parts;
  if (wildcardEnd.test(host.replace(/:\*$/, ""))) return false;
  return matches(
    [
      ...steps(scheme, "", ""),
      ...steps(host.toLowerCase(), "./:?", "/:?", 1),
      ...steps(path, "/?", "?"),
      ...steps(query, "", ""),
    ],
    address.origin + address.pathname + address.search,
  );
}

/**
 * @param within characters that `*` does not match
 * @param across characters that `**` does not match
 * @param least minimum number of characters that either matches
 */
function steps(pattern: string, within: string, across: string, least: 0 | 1 = 0): Step[] {
  return pattern.split(/(\*+)/).flatMap((part) => {
    if (!part.startsWith("*"))
      return [...part].map((one) => ({ takes: (other: string) => other === one, repeats: false }));
    const excluded = part === "*" ? within : across;
    const takes = (character: string) => !excluded.includes(character);
    return [...Array.from({ length: least }, () => ({ takes, repeats: false })), { takes, repeats: true }];
  });
}

/** Simulates the steps as a nondeterministic automaton, in one pass over the text. */
function matches(steps: readonly Step[], text: string): boolean {
  let places = closure(steps, [0]);
  for (const character of text) {
    const next = places.flatMap((place) => {
      const step = steps[place];
      return step?.takes(character) ? [step.repeats ? place : place + 1] : [];
    });
    places = closure(steps, next);
    if (places.length === 0) return false;
  }
  return places.includes(steps.length);
}

/** Returns the given positions, and those reachable by skipping repeated steps. */
function closure(steps: readonly Step[], places: number[]): number[] {
  const reached = new Set<number>();
  for (let place of places) {
    while (!reached.has(place)) {
      reached.add(place);
      if (steps[place]?.repeats) place += 1;
    }
  }
  return [...reached];
}
