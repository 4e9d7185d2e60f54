import { type ProviderFacts, toProviderFacts } from "../provider-facts.ts";
import type { AssertionStatement } from "./assertion.ts";
import type { ProviderSettings } from "./identity-providers.ts";

/** The facts that an attribute can tell, and the names that providers commonly give them, most telling first. */
const commonAttributeNames = {
  /** Who the person is there: the name identifier, unless the tenant names an attribute. */
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

/** Our names of the facts, as the tenant maps them. */
type FactName = keyof ProviderSettings["attribute_map"];

/** Name identifiers that may be addresses; some providers do not say what theirs are. */
const emailFormats = [
  "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
  "",
];
const transientFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

/** What the tenant says of a provider; `SamlProvider` of the configuration. */
interface SamlTrust {
  entityId: string;
  domains: readonly string[];
  skipEmailVerification: boolean;
  satisfiesMfa: boolean;
  /** Our name of a fact, and the attribute's. */
  attributeMap: ProviderSettings["attribute_map"];
}

/**
 * Makes facts of what an assertion states. A fact that the tenant maps is read from that attribute alone; others
 * from the usual names. The address is verified when the tenant trusts the provider for it, and it lies in one of
 * the provider's own domains: no provider vouches for other people's.
 *
 * @param maxEmailLength `email.max_length`
 * @returns null when nothing tells who this is: a transient name identifier names somebody else tomorrow
 */
export function mapAttributes(
  statement: AssertionStatement,
  trust: SamlTrust,
  maxEmailLength: number,
): ProviderFacts | null {
  const read = (fact: FactName): string | undefined => {
    const mapped = trust.attributeMap[fact];
    const names: readonly string[] = mapped === undefined ? commonAttributeNames[fact] : [mapped];
    return names.flatMap((name) => statement.attributes.get(name) ?? [])[0];
  };
  const { nameId } = statement;
  const lasting = nameId.format === transientFormat ? undefined : nameId.value;
  const { attributeMap } = trust;
  const email =
    read("email") ??
    (emailFormats.includes(nameId.format) && attributeMap.email === undefined ? nameId.value : undefined);
  const facts = toProviderFacts(
    {
      subject: attributeMap.subject === undefined ? lasting : read("subject"),
      email,
      emailVerified: false,
      name: read("name"),
      givenName: read("given_name"),
      familyName: read("family_name"),
      picture: read("picture"),
    },
    { provider: samlProviderId(trust.entityId), satisfiesMfa: trust.satisfiesMfa },
    maxEmailLength,
  );
  if (!facts) return null;
  const vouched = trust.skipEmailVerification && isInDomains(facts.email, trust.domains);
  return { ...facts, emailVerified: vouched, skipEmailVerification: vouched };
}

/** How a provider is named beside those of OAuth. */
export function samlProviderId(entityId: string): string {
  return `saml:${entityId}`;
}

/** Whether a canonical address lies in one of the domains. */
export function isInDomains(email: string | null, domains: readonly string[]): boolean {
  const domain = email?.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domain !== undefined && domains.includes(domain);
}
