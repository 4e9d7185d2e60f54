/** Encodings that answers of ours may have, the shorter one first. */
export const contentEncodings = ["br", "gzip"] as const;

export type ContentEncoding = (typeof contentEncodings)[number];

/**
 * Selects the encoding of an answer (RFC 9110, 12.5.3). Of those that the client accepts, the shorter one; weights beyond
 * "not acceptable" are not compared.
 *
 * @param header the `Accept-Encoding` of the request
 * @returns null for the content as it is
 */
export function acceptedEncoding(header: string | null): ContentEncoding | null {
  const accepted = new Map(
    (header ?? "").split(",").map((entry) => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      return [name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))];
    }),
  );
  return contentEncodings.find((name) => accepted.get(name) ?? accepted.get("*") ?? false) ?? null;
}
