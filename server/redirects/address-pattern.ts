/**
 * Patterns for addresses: `*` stands for a part of a host's label or of a path's segment, `**` for any number of
 * labels or segments. In a host both stand for one character at least. A query is matched by what the pattern has
 * after its own `?`.
 */

/** One step of a pattern: a character it takes, and whether it takes any number of them. */
interface Step {
  takes(character: string): boolean;
  repeats: boolean;
}

const patternParts = /^(https?:\/\/)([^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/;

/** `https://app.example**`: every address of that origin, as configurations of other services write it. */
const wholeOrigin = /^(https?:\/\/[^/?#*]+)\*\*$/;

/** A host whose name ends in a wildcard: whoever registers a longer name is in it. A port may be any. */
const wildcardEnd = /\*(?::[^:\]]*)?$/;

/**
 * Whether an address, in the normal form of the URL standard, is one of a pattern's. Takes time in proportion to
 * the lengths of both, whatever they are: the address may be anybody's.
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
 * @param within characters that `*` does not take
 * @param across characters that `**` does not take
 * @param least how many characters either takes at least
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

/** Runs through the text once, in all the places at a time that the steps may have come to. */
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

/** These places, and those behind repeated steps, which need not take anything. */
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
