/** What a check of a provider has found. */
export interface Finding {
  check: CheckName;
  outcome: "ok" | "warning" | "error";
  /** One sentence for the operator. Of a provider's text it holds short pieces, which may be markup. */
  message: string;
}

/** What is checked of providers, in the order of the findings. */
export const checkNames = [
  "settings",
  "enabled",
  "address",
  "discovery",
  "metadata",
  "entity_id",
  "issuer",
  "endpoints",
  "response_types",
  "scopes",
  "pkce",
  "client_authentication",
  "signatures",
  "keys",
  "certificates",
  "validity",
  "signed_requests",
  "logout",
  "clock",
] as const;

export type CheckName = (typeof checkNames)[number];

/** Characters of a provider's text in a message. */
const MAX_QUOTED_CHARACTERS = 200;

/** A text of a provider as a message quotes it. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text;
}

/** The difference of clocks from which on signed answers are refused. */
const MAX_CLOCK_DIFFERENCE_MS = 30_000;

/**
 * Compares the clock of a provider with that of this service.
 *
 * @param date the header `Date` of its answer (RFC 9110, 6.6.1); null without one
 */
export function clockFinding(date: string | null, now: Date): Finding[] {
  const time = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(time)) return [];
  const seconds = Math.round((time - now.getTime()) / 1000);
  const isEqual = Math.abs(seconds) * 1000 <= MAX_CLOCK_DIFFERENCE_MS;
  const message = isEqual
    ? "The clocks of the provider and of this service are equal to within 30 seconds."
    : `The clock of the provider is ${Math.abs(seconds)} seconds ${seconds > 0 ? "ahead" : "behind"}: its signed answers may be refused.`;
  return [{ check: "clock", outcome: isEqual ? "ok" : "warning", message }];
}
