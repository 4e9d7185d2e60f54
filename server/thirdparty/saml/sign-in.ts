import type { TenantContext } from "../../runtime.ts";
import type { ThirdPartyRequest } from "../authorization-requests.ts";
import type { ProviderFacts } from "../provider-facts.ts";
import { ThirdPartyError } from "../third-party-error.ts";
import { verifySamlAssertion } from "./assertion.ts";
import { factsOfAssertion, providerName } from "./attribute-mapping.ts";
import { findByEntityId, type IdentityProvider } from "./identity-providers.ts";
import { rememberAssertion } from "./replay-cache.ts";
import { childOf } from "./response-schema.ts";
import { type GuardedResponse, guardResponse } from "./response-validation.ts";
import { samlKey } from "./saml-keys.ts";
import { serviceProviderOf, verifyResponse } from "./service-provider.ts";
import { wordsOf } from "./xml.ts";

/**
 * Makes facts of a SAML response (SAML Profiles 2.0, 4.1): look, verify, judge, and only then remember that it was
 * shown.
 *
 * @param about `samlResponse`: the form field; `request`: the one it answers, already taken; null when the provider
 *   sends it by itself
 * @param now the request's moment
 * @throws ThirdPartyError for whatever is wrong with it
 */
export async function completeSignOn(
  deployment: TenantContext,
  { samlResponse, request }: { samlResponse: string; request: ThirdPartyRequest | null },
  now: Date,
): Promise<ProviderFacts> {
  const { config } = deployment.tenant;
  const encryption = await samlKey(deployment, "saml_encryption");
  const look = guardResponse(samlResponse, encryption.privateKey);
  if (!look.ok) throw look.problem === "failure" ? refused() : untrue(look.reason);
  const { guarded } = look;

  const provider = await senderOf(deployment, guarded, request, now);
  const requestId = request?.privateState.requestId ?? null;
  const verified = await verifyResponse(config, provider, { encryption }, guarded, requestId);
  if (!verified.ok) throw untrue(verified.reason);

  const { audience, consumerUrl } = serviceProviderOf(config);
  const judgement = verifySamlAssertion(guarded.response, verified.assertion, {
    issuer: provider.entityId,
    audience,
    recipient: consumerUrl,
    requestId,
    signedInSince:
      config.saml.options.force_login && request ? new Date(request.privateState.askedAt ?? now) : null,
    now,
  });
  if (!judgement.ok) throw untrue(judgement.reason);

  const { stated } = judgement;
  const facts = factsOfAssertion(stated, trustIn(provider), config.email.max_length);
  if (!facts)
    throw new ThirdPartyError("invalid_request", "The provider did not say who you are.", "no_subject");
  const { id, expiresAt } = stated;
  if (!(await rememberAssertion(deployment, { issuer: provider.entityId, id, expiresAt })))
    throw new ThirdPartyError("invalid_request", "This sign-in was used before. Start again.", "replay");
  return facts;
}

/** The provider that was asked; or, when none was, the one that the response names and that may come by itself. */
async function senderOf(
  deployment: TenantContext,
  { response, assertion }: GuardedResponse,
  request: ThirdPartyRequest | null,
  now: Date,
): Promise<IdentityProvider> {
  const issuer = childOf(response, "saml:Issuer") ?? childOf(assertion ?? undefined, "saml:Issuer");
  const entityId = request ? request.provider.slice(providerName("").length) : issuer ? wordsOf(issuer) : "";
  const provider = await findByEntityId(deployment, entityId, now);
  if (!provider) throw untrue("unknown_issuer");
  if (!request && !provider.settings.allow_idp_initiated) throw untrue("unsolicited");
  return provider;
}

function trustIn({ entityId, settings }: IdentityProvider) {
  return {
    entityId,
    domains: settings.domains,
    skipEmailVerification: settings.skip_email_verification,
    satisfiesMfa: settings.satisfies_mfa,
    attributeMap: settings.attribute_map,
  };
}

const refused = () =>
  new ThirdPartyError(
    "access_denied",
    "The provider did not let you in, or you turned back.",
    "status_not_success",
  );

/** One sentence for every reason: whoever made the message up learns nothing from it. */
const untrue = (reason: string) =>
  new ThirdPartyError("invalid_request", "The provider's answer could not be verified.", reason);
