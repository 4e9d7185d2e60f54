const MAX_HEADER_CHARACTERS = 1_000;

/** Language tags of an `Accept-Language` header (RFC 9110, 12.5.4), the most wanted first, without those of weight 0. */
export function acceptedLanguageTags(header: string | null): string[] {
  return (header ?? "")
    .slice(0, MAX_HEADER_CHARACTERS)
    .split(",")
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
      const weight = parameters.map((parameter) => /^q=([\d.]+)$/i.exec(parameter)?.[1]).find(Boolean);
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ tag, weight }) => tag !== "" && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}
