import type { Config } from "../../config/schema.ts";
import { commonAttributeNames } from "./attribute-mapping.ts";
import type { ProviderSettings } from "./identity-providers.ts";
import { contentCiphers, keyTransports } from "./response-schema.ts";
import type { SamlKey } from "./saml-keys.ts";
import { serviceProviderOf } from "./service-provider.ts";
import { escapeXml } from "./xml-escape.ts";

/** The keys that the metadata publishes. */
export interface PublishedKeys {
  signing: SamlKey;
  /** null if the tenant wants no encryption: some providers encrypt as soon as they are offered a certificate. */
  encryption: SamlKey | null;
}

const nameIdFormats = [
  "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
];

const attributeNameFormats = {
  uri: "urn:oasis:names:tc:SAML:2.0:attrname-format:uri",
  unspecified: "urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified",
};

/** Facts that are requested as attributes, by the friendly names of eduPerson and inetOrgPerson (RFC 2798). */
const requestedFacts = {
  email: "mail",
  name: "displayName",
  given_name: "givenName",
  family_name: "sn",
} as const;

/**
 * Returns the service provider metadata of a tenant for one provider (SAML Metadata 2.0). It lists the algorithms of
 * encryption that are understood in every response, and the attributes that are read.
 *
 * @returns an XML document
 */
export function serviceProviderMetadata(
  config: Config,
  { signing, encryption }: PublishedKeys,
  { attribute_map, single_logout }: Pick<ProviderSettings, "attribute_map" | "single_logout">,
): string {
  const { entityId, consumerUrl, logoutUrl } = serviceProviderOf(config);
  const formats = nameIdFormats.map((format) => `\n    <md:NameIDFormat>${format}</md:NameIDFormat>`);
  const logout =
    single_logout === true
      ? `\n    <md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${escapeXml(logoutUrl)}"/>`
      : "";
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" xmlns:xenc11="http://www.w3.org/2009/xmlenc11#" entityID="${escapeXml(entityId)}">
  <md:SPSSODescriptor AuthnRequestsSigned="${config.saml.options.sign_authn_requests}" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing">${keyInfo(signing)}
    </md:KeyDescriptor>${encryption ? encryptionKey(encryption) : ""}${logout}${formats.join("")}
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escapeXml(consumerUrl)}" index="0" isDefault="true"/>
    <md:AttributeConsumingService index="0" isDefault="true">
      <md:ServiceName xml:lang="en">${escapeXml(config.service.name)}</md:ServiceName>${requestedAttributes(config, attribute_map)}
    </md:AttributeConsumingService>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`;
}

/** SAML Metadata 2.0, 2.4.1.1: the algorithms follow the key, in the order of preference. */
function encryptionKey(key: SamlKey): string {
  const ciphers = Object.entries(contentCiphers).flatMap(([algorithm, cipher]) =>
    cipher.endsWith("-gcm") ? [`\n      <md:EncryptionMethod Algorithm="${algorithm}"/>`] : [],
  );
  const transports = keyTransports.map(({ algorithm, digest, ...rest }) => {
    const mask = "mask" in rest ? `<xenc11:MGF Algorithm="${rest.mask}"/>` : "";
    return `\n      <md:EncryptionMethod Algorithm="${algorithm}"><ds:DigestMethod Algorithm="${digest}"/>${mask}</md:EncryptionMethod>`;
  });
  return `
    <md:KeyDescriptor use="encryption">${keyInfo(key)}${ciphers.join("")}${transports.join("")}
    </md:KeyDescriptor>`;
}

function requestedAttributes(config: Config, attributeMap: ProviderSettings["attribute_map"]): string {
  const { enabled, optional } = config.email;
  const facts = Object.entries(requestedFacts) as [keyof typeof requestedFacts, string][];
  return facts
    .map(([fact, friendlyName]) => {
      const name = attributeMap[fact] ?? commonAttributeNames[fact][0];
      const format = attributeNameFormats[/^(urn|https?):/.test(name) ? "uri" : "unspecified"];
      const isRequired = fact === "email" && enabled && !optional;
      return `\n      <md:RequestedAttribute Name="${escapeXml(name)}" NameFormat="${format}" FriendlyName="${friendlyName}" isRequired="${isRequired}"/>`;
    })
    .join("");
}

function keyInfo({ certificate }: SamlKey): string {
  const base64 = certificate.replace(/-----[A-Z ]+-----|\n/g, "");
  return `\n      <ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
}
