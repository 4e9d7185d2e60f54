import type { Config } from "../../config/schema.ts";
import { authenticatedCiphers } from "./response-schema.ts";
import type { SamlKey } from "./saml-keys.ts";
import { type ServiceProviderKeys, serviceProviderOf } from "./service-provider.ts";

const nameIdFormats = [
  "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
];

/**
 * Returns the service provider metadata of a tenant (SAML Metadata 2.0). It lists authenticated ciphers only.
 *
 * @returns an XML document
 */
export function serviceProviderMetadata(
  config: Config,
  { signing, encryption }: ServiceProviderKeys,
): string {
  const { entityId, consumerUrl } = serviceProviderOf(config);
  const ciphers = Object.keys(authenticatedCiphers).map(
    (algorithm) => `\n      <md:EncryptionMethod Algorithm="${algorithm}"/>`,
  );
  const formats = nameIdFormats.map((format) => `\n    <md:NameIDFormat>${format}</md:NameIDFormat>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${escaped(entityId)}">
  <md:SPSSODescriptor AuthnRequestsSigned="${config.saml.options.sign_authn_requests}" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing">${keyInfo(signing)}
    </md:KeyDescriptor>
    <md:KeyDescriptor use="encryption">${keyInfo(encryption)}${ciphers.join("")}
    </md:KeyDescriptor>${formats.join("")}
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escaped(consumerUrl)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`;
}

function keyInfo({ certificate }: SamlKey): string {
  const base64 = certificate.replace(/-----[A-Z ]+-----|\n/g, "");
  return `\n      <ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? "");
}
