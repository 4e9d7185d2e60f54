import type { TenantContext } from "../../context/context.ts";
import { sha256 } from "../../lib/sha256.ts";
import { type NamedSessions, type SamlSession, sessionsOfNameId } from "../../sessions/provider-sessions.ts";
import type { Process } from "../process.ts";
import { samlProviderId } from "./attribute-mapping.ts";
import { RELAY_STATE_PREFIX } from "./authn-request.ts";
import { findByEntityId, type IdentityProvider, renewedProvider } from "./identity-providers.ts";
import {
  issuerOf,
  type LogoutRequest,
  logoutRequestXml,
  logoutResponseXml,
  parseLogoutMessage,
  verifyLogoutRequest,
  verifyLogoutResponse,
} from "./logout-messages.ts";
import { type RedirectMessage, redirectTo } from "./redirect-binding.ts";
import type { SeenMessage } from "./replay-cache.ts";
import { samlKey } from "./saml-keys.ts";
import { serviceProviderOf } from "./service-provider.ts";
import type { XmlElement } from "./xml.ts";

/** Single logout (SAML Profiles 2.0, 4.4), by signed messages in addresses. */

/** Id of the request of a sign-out, which the answer repeats. */
const requestIdOf = (state: string): string => `_${sha256(`logout ${state}`).toString("hex")}`;

/**
 * Returns the address at which the browser ends its session at a provider.
 *
 * @param about `provider`: its id, as `samlProviderId` makes it; `state`: of the sign-out
 * @returns null if the provider is not usable at the moment, or has no single logout
 */
export async function samlLogoutUrl(
  context: TenantContext<Process>,
  { provider: id, session, state }: { provider: string; session: SamlSession; state: string },
  now: Date,
): Promise<string | null> {
  const provider = await findLoggingOut(context, id.slice(samlProviderId("").length), now);
  if (!provider?.logout) return null;
  const destination = provider.logout.requestUrl;
  const sending = {
    id: requestIdOf(state),
    issuer: serviceProviderOf(context.tenant.config).entityId,
    destination,
    now,
  };
  const message = {
    name: "SAMLRequest",
    xml: logoutRequestXml(sending, session),
    relayState: RELAY_STATE_PREFIX + state,
  } as const;
  return redirectTo(destination, message, (await samlKey(context, "saml_signing")).privateKey);
}

async function findLoggingOut(
  context: TenantContext<Process>,
  entityId: string,
  now: Date,
): Promise<IdentityProvider | null> {
  const provider = await findByEntityId(context, entityId, now);
  return provider?.settings.single_logout ? provider : null;
}

/** A verdict about a message that a browser brings from a provider. `reason` is for the log. */
type Verdict<Content> = ({ ok: true } & Content) | { ok: false; reason: string };

/**
 * Verifies a provider's request to end sessions: its signature and its content.
 *
 * @returns `named`: the sessions that it names, of this tenant and this provider alone; `seen`: to register with their end, because a
 *   copy of an earlier request is not obeyed
 */
export async function receiveLogoutRequest(
  context: TenantContext<Process>,
  message: RedirectMessage,
  now: Date,
): Promise<
  Verdict<{
    provider: IdentityProvider;
    request: LogoutRequest;
    named: NamedSessions;
    seen: SeenMessage;
  }>
> {
  const element = parseLogoutMessage(message.document, "samlp:LogoutRequest");
  if (!element) return { ok: false, reason: "malformed" };
  const sender = await verifiedSender(context, message, element, now);
  if (!sender.ok) return sender;
  const { provider } = sender;
  const issuer = provider.entityId;
  const destination = serviceProviderOf(context.tenant.config).logoutUrl;
  const verified = verifyLogoutRequest(element, { issuer, destination, now });
  if (!verified.ok) return verified;
  const { request } = verified;
  // No assertion has an id with a space (XML Schema, NCName).
  const seen = { issuer, id: `logout ${request.id}`, expiresAt: request.expiresAt };
  const named = await sessionsOfNameId(context, { ...request, provider: samlProviderId(issuer) });
  return { ok: true, provider, request, named, seen };
}

/**
 * Returns the address that the browser brings the answer to a request to.
 *
 * @param relayState of the request
 * @returns null if the provider's metadata has none
 */
export async function logoutResponseUrl(
  context: TenantContext<Process>,
  {
    provider,
    inResponseTo,
    relayState,
  }: { provider: IdentityProvider; inResponseTo: string; relayState: string | null },
  now: Date,
): Promise<string | null> {
  if (!provider.logout) return null;
  const destination = provider.logout.responseUrl;
  const id = `_${context.runtime.platform.randomBytes(20).toString("hex")}`;
  const sending = { id, issuer: serviceProviderOf(context.tenant.config).entityId, destination, now };
  const message = {
    name: "SAMLResponse",
    xml: logoutResponseXml(sending, inResponseTo),
    relayState,
  } as const;
  return redirectTo(destination, message, (await samlKey(context, "saml_signing")).privateKey);
}

/**
 * Verifies a provider's answer to our request.
 *
 * @param about `provider`: the one that the request was sent to; `state`: of the sign-out
 * @returns `success`: whether the provider says that its session has ended
 */
export async function receiveLogoutResponse(
  context: TenantContext<Process>,
  message: RedirectMessage,
  { provider: asked, state }: { provider: string; state: string },
  now: Date,
): Promise<Verdict<{ success: boolean }>> {
  const element = parseLogoutMessage(message.document, "samlp:LogoutResponse");
  if (!element) return { ok: false, reason: "malformed" };
  if (samlProviderId(issuerOf(element)) !== asked) return { ok: false, reason: "issuer" };
  const sender = await verifiedSender(context, message, element, now);
  if (!sender.ok) return sender;
  return verifyLogoutResponse(element, {
    issuer: sender.provider.entityId,
    destination: serviceProviderOf(context.tenant.config).logoutUrl,
    requestId: requestIdOf(state),
    now,
  });
}

/** The provider that a message names and whose key has signed it. */
async function verifiedSender(
  context: TenantContext<Process>,
  message: RedirectMessage,
  element: XmlElement,
  now: Date,
): Promise<Verdict<{ provider: IdentityProvider }>> {
  const named = await findLoggingOut(context, issuerOf(element), now);
  if (!named) return { ok: false, reason: "unknown_issuer" };
  if (message.isSignedBy(named.certificates)) return { ok: true, provider: named };
  // The provider may sign with a key that is newer than its metadata here.
  const renewed = await renewedProvider(context, named, now);
  return renewed && message.isSignedBy(renewed.certificates)
    ? { ok: true, provider: renewed }
    : { ok: false, reason: "signature" };
}
