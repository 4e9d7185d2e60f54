import { X509Certificate } from "node:crypto";
import type { TenantContext } from "../../context/context.ts";
import { thirdPartyFailures } from "../../failures/third-party.ts";
import { clockFinding, type Finding, quoted } from "../findings.ts";
import type { Process } from "../process.ts";
import { type IdentityProviderMetadata, parseMetadata } from "./identity-provider-metadata.ts";
import { configuredEntityId, fetchMetadata, type ProviderSettings } from "./identity-providers.ts";
import { XmlError } from "./xml-error.ts";

const DAY_MS = 86_400_000;

/** Before its end, a certificate or a document is told of. */
const SOON_MS = 30 * DAY_MS;

/**
 * Checks what the settings of a SAML provider lead to. Metadata at an address is read anew, with the limits of size and time of a
 * sign-in, and not cached.
 *
 * @param now time of the request
 */
export async function checkSamlProvider(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  now: Date,
): Promise<Finding[]> {
  const { config } = context.tenant;
  const fetched =
    settings.metadata === undefined
      ? await fetchMetadata(context, settings)
      : ({ ok: true, document: settings.metadata, date: null } as const);
  if (!fetched.ok) return [failed(`The metadata cannot be read: ${sentenceOf(fetched.reason)}`)];
  let metadata: IdentityProviderMetadata;
  try {
    metadata = parseMetadata(fetched.document, { plainHttp: config.mode === "development" });
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return [failed(`The metadata cannot be used: ${quoted(error.message)}.`)];
  }
  return [
    {
      check: "metadata",
      outcome: "ok",
      message: "The metadata describes one identity provider, which signs users in by HTTP-Redirect.",
    },
    checkEntityId(context, settings, metadata),
    ...checkCertificates(metadata, now),
    ...checkValidity(metadata, now),
    checkSignedRequests(context, metadata),
    ...checkLogout(settings, metadata),
    ...clockFinding(fetched.date, now),
  ];
}

const failed = (message: string): Finding => ({ check: "metadata", outcome: "error", message });

const failures: Readonly<Record<string, string>> = thirdPartyFailures;

const sentenceOf = (reason: string) => failures[reason] ?? `${reason}.`;

function checkEntityId(
  { tenant }: TenantContext<Process>,
  settings: ProviderSettings,
  { entityId }: IdentityProviderMetadata,
): Finding {
  const { entity_id } = settings;
  if (entity_id !== undefined && entity_id !== entityId)
    return {
      check: "entity_id",
      outcome: "error",
      message: `The metadata is that of ${quoted(entityId)}, the settings expect ${quoted(entity_id)}.`,
    };
  const rival = tenant.config.saml.identity_providers.find(
    (other) => other.id !== settings.id && configuredEntityId(other) === entityId,
  );
  return rival
    ? {
        check: "entity_id",
        outcome: "error",
        message: `The provider ${quoted(rival.name)} has the same entity id: neither could be told from the other.`,
      }
    : { check: "entity_id", outcome: "ok", message: `The entity id is ${quoted(entityId)}.` };
}

/** An expired certificate still verifies (SAML V2.0 Metadata Interoperability Profile), but a provider is about to change it. */
function checkCertificates({ certificates }: IdentityProviderMetadata, now: Date): Finding[] {
  return certificates.map((pem) => {
    const { subject, validToDate } = new X509Certificate(pem);
    const left = validToDate.getTime() - now.getTime();
    const day = validToDate.toISOString().slice(0, 10);
    const name = quoted(subject.replaceAll("\n", ", "));
    if (left > SOON_MS)
      return {
        check: "certificates",
        outcome: "ok",
        message: `The certificate ${name} is valid until ${day}.`,
      };
    return {
      check: "certificates",
      outcome: "warning",
      message:
        left > 0
          ? `The certificate ${name} expires on ${day}: ask for the metadata with the next one.`
          : `The certificate ${name} expired on ${day}. It is accepted, but the provider will replace it.`,
    };
  });
}

function checkValidity({ validUntil }: IdentityProviderMetadata, now: Date): Finding[] {
  if (validUntil === null) return [];
  const left = validUntil.getTime() - now.getTime();
  const at = validUntil.toISOString();
  if (left <= 0) return [{ check: "validity", outcome: "error", message: `The metadata expired at ${at}.` }];
  return [
    {
      check: "validity",
      outcome: left > DAY_MS ? "ok" : "warning",
      message: `The metadata is valid until ${at}.`,
    },
  ];
}

function checkSignedRequests(
  { tenant }: TenantContext<Process>,
  { wantsSignedRequests }: IdentityProviderMetadata,
): Finding {
  const { sign_authn_requests } = tenant.config.saml.options;
  if (wantsSignedRequests && !sign_authn_requests)
    return {
      check: "signed_requests",
      outcome: "error",
      message: "The provider wants signed requests, and saml.options.sign_authn_requests is off.",
    };
  return {
    check: "signed_requests",
    outcome: "ok",
    message: sign_authn_requests
      ? "Requests are signed: the provider needs the certificate in the metadata of this service."
      : "The provider wants no signed requests, and none are signed.",
  };
}

function checkLogout({ single_logout }: ProviderSettings, { logout }: IdentityProviderMetadata): Finding[] {
  if (!single_logout) return [];
  return [
    logout
      ? { check: "logout", outcome: "ok", message: "Signing out ends the session there too." }
      : {
          check: "logout",
          outcome: "warning",
          message: "It has no single logout by HTTP-Redirect: signing out ends the session here alone.",
        },
  ];
}
