import { z } from "zod";
import { application } from "./application.ts";

/** What an application may know and do: claims by their scopes and by name, and scopes of APIs by resource indicator. */
export const permissions = z.object({
  scopes: z.array(z.string()),
  /** Those that are asked for by name (OpenID Connect Core, 5.5). */
  claims: z.array(z.string()),
  resources: z.record(z.string(), z.array(z.string())),
});

export type Permissions = z.output<typeof permissions>;

/** A device without a browser that asks for its user (RFC 8628). */
const askingDevice = z.object({
  /** What it shows its user. */
  code: z.string(),
  /** Where it asks from, as far as that is known. */
  user_agent: z.string().optional(),
  ip_address: z.string().optional(),
  location: z
    .object({ country: z.string().optional(), region: z.string().optional(), city: z.string().optional() })
    .optional(),
});

/** An authorization request that waits for the consent of its user. */
export const waitingAuthorization = z.object({
  /** Identifies the request: the address at which the browser returns to it ends with it. Of a device it is its code. */
  request: z.string(),
  device: askingDevice.optional(),
  clientId: z.string(),
  /** What a client that is not listed says of itself. */
  application: application.optional(),
  /** The host that the user goes on to. */
  host: z.string(),
  asked: permissions,
  /** What the user has allowed the application before. */
  allowed: permissions.optional(),
  /** When what is allowed has to be asked for again, in seconds from the answer; without it, never. */
  lifetime: z.number().optional(),
});

export type WaitingAuthorization = z.output<typeof waitingAuthorization>;

/** Both together. */
export function together(one: Permissions, other: Permissions): Permissions {
  const indicators = [...new Set([...Object.keys(one.resources), ...Object.keys(other.resources)])];
  const union = (some: readonly string[] = [], more: readonly string[] = []) => [
    ...new Set([...some, ...more]),
  ];
  const ofResource = (indicator: string) => [
    indicator,
    union(one.resources[indicator], other.resources[indicator]),
  ];
  return {
    scopes: union(one.scopes, other.scopes),
    claims: union(one.claims, other.claims),
    resources: Object.fromEntries(indicators.map(ofResource)),
  };
}
