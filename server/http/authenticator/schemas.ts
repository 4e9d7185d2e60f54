import { z } from "zod";

/** Schemas of authenticator requests and devices (docs/authenticator-requests.md). */

const time = z.iso.datetime();

const link = z
  .object({
    rel: z.enum(["qrcode", "status", "result", "validate", "cancel", "events"]),
    method: z.enum(["GET", "PUT", "DELETE"]),
    href: z.url(),
  })
  .meta({ id: "AuthenticatorLink" });

const members = {
  id: z.string(),
  operation: z.enum(["REG", "AUTH", "DEREG"]),
  status: z.enum(["PENDING", "OK", "FAILED", "INVALIDATED"]),
  createdAt: time,
  validUntil: time,
  error: z.object({ code: z.int(), reason: z.string() }).optional(),
};

/** What a waiting page sees of a request. */
export const requestStatus = z.object(members).meta({ id: "AuthenticatorRequestStatus" });

/** What the application and the authenticator see of a request. */
export const authenticatorRequest = z
  .object({
    ...members,
    username: z.string(),
    userId: z.string(),
    relyingParty: z.object({ id: z.string(), name: z.string(), appId: z.string(), icon: z.string() }),
    links: z.array(link),
    request: z.string().describe("UAF messages as a JSON array in a string."),
    deviceID: z.string().describe("Empty until a device has answered."),
    clientData: z
      .object({ remoteAddress: z.string().optional(), userAgent: z.string().optional() })
      .optional(),
    location: z
      .object({ country: z.string().optional(), region: z.string().optional(), city: z.string().optional() })
      .optional(),
    transaction: z.string().optional(),
    device: z.object({ deviceId: z.string(), keyName: z.string() }).optional(),
    isSecondFactorOnly: z.boolean().optional(),
  })
  .meta({ id: "AuthenticatorRequest" });

export const device = z
  .object({
    deviceId: z.string(),
    keyName: z.string(),
    authenticatorType: z.literal("FIDO_UAF"),
    lastUsage: time,
    createdAt: time,
    isSecondFactorOnly: z.boolean(),
    deviceOs: z.string().optional(),
    osVersion: z.string().optional(),
  })
  .meta({ id: "AuthenticatorDevice" });

export const trustedFacets = z
  .object({
    trustedFacets: z.array(
      z.object({ version: z.object({ major: z.int(), minor: z.int() }), ids: z.array(z.string()) }),
    ),
  })
  .meta({ id: "TrustedFacets" });
