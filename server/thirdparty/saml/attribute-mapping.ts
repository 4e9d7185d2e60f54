import { type ProviderFacts, toProviderFacts } from "../provider-facts.ts";
import type { AssertionStatement } from "./assertion.ts";
import type { ProviderSettings } from "./identity-providers.ts";

/** Common attribute names of each fact, the most specific first. The first one is that of the metadata. */
export const commonAttributeNames = {
  /** The name identifier, unless the tenant maps an attribute. */
  subject: [],
  email: [
    "urn:oid:0.9.2342.19200300.100.1.3",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
    "http://schemas.xmlsoap.org/claims/EmailAddress",
    "email",
    "mail",
    "emailAddress",
    "Email",
  ],
  name: [
    "urn:oid:2.16.840.1.113730.3.1.241",
    "http://schemas.microsoft.com/identity/claims/displayname",
    "displayName",
    "name",
    "urn:oid:2.5.4.3",
    "cn",
  ],
  given_name: [
    "urn:oid:2.5.4.42",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
    "givenName",
    "firstName",
    "FirstName",
    "first_name",
  ],
  family_name: [
    "urn:oid:2.5.4.4",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
    "sn",
    "surname",
    "lastName",
    "LastName",
    "last_name",
  ],
  picture: ["picture"],
} as const satisfies Record<FactName, readonly string[]>;

/** Facts that a tenant can map. */
export type FactName = keyof ProviderSettings["attribute_map"];

/** Formats of name identifiers that may be addresses; some providers omit the format. */
const emailFormats = [
  "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
  "",
];
const transientFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

type MappingSettings = Pick<
  ProviderSettings,
  "attribute_map" | "domains" | "skip_email_verification" | "satisfies_mfa"
>;

/**
 * Maps the attributes of an assertion to facts. A mapped fact is read from its attribute only, others from the common
 * names. The address is verified if the tenant trusts the provider for it and it is in one of the provider's domains.
 *
 * @param maxEmailLength `email.max_length`
 * @returns null if there is no lasting subject; a transient name identifier is not one
 */
export function mapAttributes(
  statement: Pick<AssertionStatement, "nameId" | "attributes">,
  { entityId, settings }: { entityId: string; settings: MappingSettings },
  maxEmailLength: number,
): ProviderFacts | null {
  const { attribute_map: map, domains } = settings;
  const read = (fact: FactName): string | undefined => {
    const name = attributeOf(fact, statement.attributes, settings);
    return name === undefined ? undefined : statement.attributes.get(name)?.[0];
  };
  const { nameId } = statement;
  const lasting = nameId.format === transientFormat ? undefined : nameId.value;
  const named = emailFormats.includes(nameId.format) && map.email === undefined ? nameId.value : undefined;
  const facts = toProviderFacts(
    {
      subject: map.subject === undefined ? lasting : read("subject"),
      email: read("email") ?? named,
      emailVerified: false,
      name: read("name"),
      givenName: read("given_name"),
      familyName: read("family_name"),
      picture: read("picture"),
    },
    { provider: samlProviderId(entityId), satisfiesMfa: settings.satisfies_mfa },
    maxEmailLength,
  );
  if (!facts) return null;
  const isTrusted = settings.skip_email_verification && isInDomains(facts.email, domains);
  return { ...facts, emailVerified: isTrusted, skipEmailVerification: isTrusted };
}

/** Returns the name of the attribute that a fact is read from; undefined if the provider states none for it. */
export function attributeOf(
  fact: FactName,
  attributes: AssertionStatement["attributes"],
  { attribute_map }: Pick<MappingSettings, "attribute_map">,
): string | undefined {
  const mapped = attribute_map[fact];
  const names: readonly string[] = mapped === undefined ? commonAttributeNames[fact] : [mapped];
  return names.find((name) => attributes.get(name)?.[0] !== undefined);
}

/** Returns the provider id of a SAML provider. */
export function samlProviderId(entityId: string): string {
  return `saml:${entityId}`;
}

/** Whether a canonical address is in one of the domains. */
function isInDomains(email: string | null, domains: readonly string[]): boolean {
  const domain = email?.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domain !== undefined && domains.includes(domain);
}
