/** The letters in the square before a known provider's name; others use their first letter. */
const letters: Record<string, string> = {
  apple: "A",
  discord: "D",
  facebook: "f",
  github: "GH",
  google: "G",
  linkedin: "in",
  microsoft: "M",
};

/**
 * A small square with a provider's letters, in its own colour if it is known. It is not a logo.
 *
 * @param provider its identifier, for instance `google` or `custom_acme`
 */
export function ProviderMark({ provider, name }: { provider: string; name: string }) {
  const isKnown = Object.hasOwn(letters, provider);
  const letter = (isKnown ? letters[provider] : undefined) ?? [...name.trim()][0]?.toUpperCase() ?? "?";
  return (
    <svg
      className="stile-provider-mark"
      data-provider={isKnown ? provider : undefined}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
    >
      <rect width="24" height="24" rx="6" />
      <text x="12" y="12" textAnchor="middle" dominantBaseline="central">
        {letter}
      </text>
    </svg>
  );
}
