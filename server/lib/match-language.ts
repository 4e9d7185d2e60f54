/**
 * The first offered language that a wanted tag matches, whole or by its primary subtag, in any case of letters
 * (look-up of RFC 4647, 3.4): `de-AT` matches `de`, and `pt-PT` matches `pt-BR` where that is the only Portuguese.
 *
 * @param wanted language tags, the most wanted first
 */
export function matchLanguage<Offered extends string>(
  wanted: readonly string[],
  offered: readonly Offered[],
): Offered | undefined {
  for (const tag of wanted.map((tag) => tag.toLowerCase())) {
    const found =
      offered.find((language) => language.toLowerCase() === tag) ??
      offered.find((language) => primarySubtag(language) === primarySubtag(tag));
    if (found !== undefined) return found;
  }
  return undefined;
}

const primarySubtag = (tag: string) => tag.toLowerCase().split("-")[0];
