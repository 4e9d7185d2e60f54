import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import { isLoopback } from "../lib/is-loopback.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { askedPermissions } from "./asked-permissions.ts";
import { findConsent } from "./consents.ts";
import { findApplication } from "./find-application.ts";
import type { WaitingAuthorization } from "./waiting-authorization.ts";

/**
 * Reads an authorization request that waits for the consent of its user.
 *
 * @returns null if there is none: it has expired, is answered, asks another user, waits for a sign-in, or its client is not
 *   configured any more
 */
export async function findWaitingAuthorization(
  context: TenantContext<Databases & Sealing & OnPlatform>,
  request: string,
  userId: string,
): Promise<WaitingAuthorization | null> {
  const { config } = context.tenant;
  const payload = await artifactStorage(context, "Interaction").find(request);
  const parameters = payload?.params ?? {};
  const { client_id: clientId, redirect_uri } = parameters;
  const isWaiting =
    payload?.prompt?.name === "consent" &&
    payload.accountId === userId &&
    payload.consumed === undefined &&
    // By the clock that the library has set it by.
    (payload.exp ?? 0) > Date.now() / 1000;
  if (!isWaiting || typeof clientId !== "string") return null;
  const [application, consent] = await Promise.all([
    findApplication(context, clientId),
    findConsent(context, userId, clientId),
  ]);
  if (!application) return null;
  const isListed = application.origin === "listed";
  return {
    request,
    clientId,
    host: hostOf(redirect_uri),
    asked: askedPermissions(config, parameters),
    ...(consent ? { allowed: consent.allowed } : {}),
    ...(isListed ? {} : { application, lifetime: config.openid.unlisted_consent_lifetime }),
  };
}

/** The host of a web server to which the user goes on; empty for a program on the device itself (RFC 8252, 7). */
function hostOf(redirectUri: unknown): string {
  const url = typeof redirectUri === "string" ? URL.parse(redirectUri) : null;
  const isWeb = url?.protocol === "https:" || (url?.protocol === "http:" && !isLoopback(url.hostname));
  return isWeb ? url.host : "";
}
