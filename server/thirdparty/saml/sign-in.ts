import type { TenantContext } from "../../context/context.ts";
import { ThirdPartyError, type ThirdPartyFailureReason } from "../../failures/third-party.ts";
import { type ProviderSession, samlSessionOf } from "../../sessions/provider-sessions.ts";
import type { ThirdPartyRequest } from "../authorization-requests.ts";
import type { ReceivedClaims } from "../oauth.ts";
import type { Process } from "../process.ts";
import type { ProviderFacts } from "../provider-facts.ts";
import { verifySamlAssertion } from "./assertion.ts";
import { mapAttributes, samlProviderId } from "./attribute-mapping.ts";
import { findByEntityId, type IdentityProvider, renewedProvider } from "./identity-providers.ts";
import { registerAssertion } from "./replay-cache.ts";
import { childOf } from "./response-schema.ts";
import { type ValidatedResponse, validateResponse } from "./response-validation.ts";
import { samlKey } from "./saml-keys.ts";
import { serviceProviderOf } from "./service-provider.ts";
import { readSignedAssertion } from "./signed-content.ts";
import { textOf } from "./xml.ts";

/**
 * Reads the facts of a SAML response, and what the provider knows its session by, if a sign-out is to end it (SAML Profiles 2.0, 4.1): validates the document, verifies its signatures, verifies
 * the assertion, and only then registers it in the replay cache.
 *
 * @param about `samlResponse`: the form field; `request`: the request that it responds to, already taken; null for an
 *   IdP-initiated sign-in
 * @param now time of the request
 * @param received told of what the verified assertion states, also if it is refused then
 * @throws ThirdPartyError if the response is not accepted
 */
export async function completeSamlSignIn(
  context: TenantContext<Process>,
  { samlResponse, request }: { samlResponse: string; request: ThirdPartyRequest | null },
  now: Date,
  received: (claims: ReceivedClaims) => void = () => {},
): Promise<{ facts: ProviderFacts; session: ProviderSession | null }> {
  const { config } = context.tenant;
  const encryption = await samlKey(context, "saml_encryption");
  const validation = await validateResponse(samlResponse, encryption.privateKey);
  if (!validation.ok)
    throw validation.reason === "status_not_success" ? accessDenied() : invalidResponse(validation);
  const { validated } = validation;

  const sender = await findSender(context, validated, request, now);
  const verify = ({ certificates }: IdentityProvider) =>
    readSignedAssertion(validated, certificates, encryption.privateKey);
  const first = await verify(sender);
  // The provider may sign with a key that is newer than its metadata here.
  const renewed =
    !first.ok && first.reason === "signature" ? await renewedProvider(context, sender, now) : null;
  const provider = renewed ?? sender;
  const verified = renewed ? await verify(renewed) : first;
  if (!verified.ok) throw invalidResponse(verified);

  const { requestId = null, reauthenticatedSince } = request?.privateState ?? {};

  const { audience, consumerUrl } = serviceProviderOf(config);
  const verdict = verifySamlAssertion(validated.response, verified.assertion, {
    issuer: provider.entityId,
    audience,
    recipient: consumerUrl,
    requestId,
    signedInSince: reauthenticatedSince === undefined ? null : new Date(reauthenticatedSince),
    now,
  });
  if (!verdict.ok) throw invalidResponse(verdict);

  const { statement } = verdict;
  received({
    source: "assertion",
    claims: { NameID: statement.nameId.value, ...Object.fromEntries(statement.attributes) },
  });
  const facts = mapAttributes(statement, provider, config.email.max_length);
  if (!facts)
    throw new ThirdPartyError("invalid_request", "The provider did not say who you are.", "no_subject");
  const { id, expiresAt } = statement;
  if (!(await registerAssertion(context, { issuer: provider.entityId, id, expiresAt })))
    throw new ThirdPartyError("invalid_request", "This sign-in was used before. Start again.", "replay");
  return { facts, session: provider.settings.single_logout ? samlSessionOf(statement.session) : null };
}

/** Returns the provider of the request; without a request, the named provider if it allows IdP-initiated sign-ins. */
async function findSender(
  context: TenantContext<Process>,
  { response, assertion }: ValidatedResponse,
  request: ThirdPartyRequest | null,
  now: Date,
): Promise<IdentityProvider> {
  const issuer = childOf(response, "saml:Issuer") ?? childOf(assertion ?? undefined, "saml:Issuer");
  const entityId = request ? request.provider.slice(samlProviderId("").length) : issuer ? textOf(issuer) : "";
  const provider = await findByEntityId(context, entityId, now);
  if (!provider) throw invalidResponse({ reason: "unknown_issuer" });
  if (!request && !provider.settings.allow_idp_initiated) throw invalidResponse({ reason: "unsolicited" });
  return provider;
}

const accessDenied = () =>
  new ThirdPartyError(
    "access_denied",
    "The provider did not let you in, or you turned back.",
    "status_not_success",
  );

/** The same message for every reason, so that an attacker learns nothing from it. */
const invalidResponse = ({ reason, detail }: { reason: ThirdPartyFailureReason; detail?: string }) =>
  new ThirdPartyError("invalid_request", "The provider's answer could not be verified.", reason, { detail });
