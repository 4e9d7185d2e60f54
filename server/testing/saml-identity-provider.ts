import { createPublicKey, createVerify, generateKeyPairSync } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { makeCertificate, pemOf } from "../lib/certificates.ts";
import { type Answer, writeAnswer } from "./saml-messages.ts";

/** An AuthnRequest, decoded from the redirect to the provider. */
export interface ReadRequest {
  id: string;
  issuer: string;
  consumerUrl: string;
  destination: string;
  forceAuthn: boolean;
  relayState: string;
  /** Whether the key of a certificate signed it. */
  isSignedBy(certificate: string): boolean;
}

/** A SAML 2.0 identity provider whose responses tests can vary. */
export interface SamlIdentityProvider {
  entityId: string;
  signOnUrl: string;
  key: Answer["key"];
  metadata: string;
  /** Decodes the request in a redirect URL. */
  read(url: string): ReadRequest;
  /**
   * Returns a response as the form field `SAMLResponse` carries it.
   *
   * @param about `consumerUrl` and `audience` of the service provider, and overrides
   */
  answer(about: Partial<Answer> & { consumerUrl: string; audience: string | null }): Promise<string>;
}

const minute = 60_000;
const success = "urn:oasis:names:tc:SAML:2.0:status:Success";
const excC14n = "http://www.w3.org/2001/10/xml-exc-c14n#";
const envelopedSignature = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/** Generates a signing key of a provider, with its certificate. */
export function providerKey(commonName = "identity provider"): Answer["key"] {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    privateKey,
    certificate: pemOf(makeCertificate({ subject: { CN: commonName }, key: privateKey })),
  };
}

/** @param now its clock, for tests that move time */
export function samlIdentityProvider({
  entityId = "https://idp.example.org/saml",
  signOnUrl = "https://idp.example.org/sso",
  logoutUrl,
  key = providerKey(),
  now = () => new Date(),
}: {
  entityId?: string;
  signOnUrl?: string;
  /** Address of single logout; default: it has none. */
  logoutUrl?: string;
  key?: Answer["key"];
  now?: () => Date;
} = {}): SamlIdentityProvider {
  let count = 0;
  return {
    entityId,
    signOnUrl,
    key,
    metadata: providerMetadata(entityId, signOnUrl, [key.certificate], logoutUrl),
    read: (url) => readRequest(url),
    async answer({ consumerUrl, ...about }) {
      const moment = now().getTime();
      count += 1;
      const answer: Answer = {
        responseId: `_response${count}${key.certificate.length}x${moment}`,
        assertionId: `_assertion${count}x${moment}`,
        issuer: entityId,
        destination: consumerUrl,
        recipient: consumerUrl,
        inResponseTo: null,
        issuedAt: new Date(moment),
        notBefore: new Date(moment - minute),
        notOnOrAfter: new Date(moment + 5 * minute),
        authenticatedAt: new Date(moment),
        sessionNotOnOrAfter: null,
        sessionIndex: null,
        status: success,
        nameId: "u-1",
        nameIdFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
        attributes: {},
        sign: "assertion",
        encryptFor: null,
        cipher: "http://www.w3.org/2009/xmlenc11#aes256-gcm",
        keyTransport: "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
        keyDigest: "sha1",
        keyMask: undefined,
        signatureAlgorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        digestAlgorithm: "http://www.w3.org/2001/04/xmlenc#sha256",
        canonicalForm: excC14n,
        transforms: [envelopedSignature, excC14n],
        key,
        edit: (xml) => xml,
        tamper: (xml) => xml,
        ...about,
      };
      return Buffer.from(await writeAnswer(answer)).toString("base64");
    },
  };
}

/** Returns the metadata of a provider with the given certificates. */
export function providerMetadata(
  entityId: string,
  signOnUrl: string,
  certificates: string[],
  logoutUrl?: string,
): string {
  const logout =
    logoutUrl === undefined
      ? ""
      : `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${logoutUrl}"/>`;
  const keys = certificates.map(
    (certificate) =>
      `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${bare(certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
  );
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join("")}${logout}<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${signOnUrl}"/></md:IDPSSODescriptor></md:EntityDescriptor>`;
}

function readRequest(url: string): ReadRequest {
  const { search, searchParams } = new URL(url);
  const xml = inflateRawSync(Buffer.from(searchParams.get("SAMLRequest") ?? "", "base64")).toString();
  const find = (expression: RegExp) => expression.exec(xml)?.[1] ?? "";
  return {
    id: find(/ ID="([^"]*)"/),
    issuer: find(/<saml:Issuer[^>]*>([^<]*)</),
    consumerUrl: find(/AssertionConsumerServiceURL="([^"]*)"/),
    destination: find(/Destination="([^"]*)"/),
    forceAuthn: find(/ForceAuthn="([^"]*)"/) === "true",
    relayState: searchParams.get("RelayState") ?? "",
    isSignedBy(certificate) {
      // SAML Bindings 2.0, section 3.4.4.1: the signature covers the parameters as sent.
      const signed = search.replace(/^.*?(?=SAMLRequest=)/, "").replace(/&Signature=.*$/, "");
      const verify = createVerify("RSA-SHA256").update(signed);
      return (
        searchParams.get("SigAlg") === "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256" &&
        verify.verify(createPublicKey(certificate), searchParams.get("Signature") ?? "", "base64")
      );
    },
  };
}

/** The Base64 content of a PEM. */
function bare(certificate: string): string {
  return certificate.replace(/-----[A-Z ]+-----|\n/g, "");
}
