import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { askedPermissions } from "./asked-permissions.ts";
import { findConsent } from "./consents.ts";
import type { WaitingAuthorization } from "./waiting-authorization.ts";

/**
 * Reads an authorization request that waits for the consent of its user.
 *
 * @returns null if there is none: it has expired, is answered, waits for a sign-in, or its client is not configured any more
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
  const isWaiting = payload?.prompt?.name === "consent" && payload.consumed === undefined;
  if (!isWaiting || typeof clientId !== "string" || !Object.hasOwn(config.openid.clients, clientId))
    return null;
  const returns = typeof redirect_uri === "string" ? URL.parse(redirect_uri) : null;
  const consent = await findConsent(context, userId, clientId);
  return {
    request,
    clientId,
    host: returns?.host ?? "",
    asked: askedPermissions(config, parameters),
    ...(consent ? { allowed: consent.allowed } : {}),
  };
}
