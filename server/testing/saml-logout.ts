import { createSign, type KeyObject, randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { type Profile, SAML } from "@node-saml/node-saml";

/** Messages of single logout as an identity provider sends and reads them: by the library, and by hand to vary them. */

/** A message that a provider sends, of which tests vary single values. */
export interface LogoutMessage {
  element: "LogoutRequest" | "LogoutResponse";
  id: string;
  issuer: string;
  destination: string | null;
  issuedAt: Date;
  /** Further attributes of the element. */
  attributes: string;
  /** What follows the issuer. */
  content: string;
  relayState: string | null;
  key: { privateKey: KeyObject } | null;
  algorithm: string;
}

const digests: Record<string, string> = {
  "http://www.w3.org/2000/09/xmldsig#rsa-sha1": "RSA-SHA1",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": "RSA-SHA256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": "RSA-SHA512",
};

/** Returns the query of a message. */
export function logoutQuery(
  about: Partial<LogoutMessage> & Pick<LogoutMessage, "issuer" | "key" | "content">,
): string {
  const message: LogoutMessage = {
    element: "LogoutRequest",
    id: `_${randomBytes(16).toString("hex")}`,
    destination: "http://localhost:3000/saml/logout",
    issuedAt: new Date(),
    attributes: "",
    relayState: null,
    algorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    ...about,
  };
  const { element, id, issuer, destination, issuedAt, attributes, content, relayState, key, algorithm } =
    message;
  const target = destination === null ? "" : ` Destination="${destination}"`;
  const xml = `<samlp:${element} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${issuedAt.toISOString()}"${target}${attributes}><saml:Issuer>${issuer}</saml:Issuer>${content}</samlp:${element}>`;
  const name = element === "LogoutRequest" ? "SAMLRequest" : "SAMLResponse";
  const parts = [`${name}=${encodeURIComponent(deflateRawSync(xml).toString("base64"))}`];
  if (relayState !== null) parts.push(`RelayState=${encodeURIComponent(relayState)}`);
  if (!key) return `?${parts.join("&")}`;
  parts.push(`SigAlg=${encodeURIComponent(algorithm)}`);
  const signature = createSign(digests[algorithm] ?? "")
    .update(parts.join("&"))
    .sign(key.privateKey, "base64");
  return `?${parts.join("&")}&Signature=${encodeURIComponent(signature)}`;
}

/** The content of a request. */
export const nameIdXml = (nameId: string, ...sessionIndexes: string[]): string =>
  `<saml:NameID>${nameId}</saml:NameID>${sessionIndexes.map((index) => `<samlp:SessionIndex>${index}</samlp:SessionIndex>`).join("")}`;

/** The content of an answer. */
export const statusXml = (status = "Success"): string =>
  `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>`;

const libraryOf = (about: {
  entityId: string;
  serviceProvider: { entityId: string; logoutUrl: string; certificate: string };
  key: { privateKey: KeyObject };
}) =>
  new SAML({
    issuer: about.entityId,
    callbackUrl: about.serviceProvider.logoutUrl,
    entryPoint: about.serviceProvider.logoutUrl,
    logoutUrl: about.serviceProvider.logoutUrl,
    idpCert: about.serviceProvider.certificate,
    idpIssuer: about.serviceProvider.entityId,
    privateKey: about.key.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    signatureAlgorithm: "sha256",
    audience: false,
  });

type Sides = Parameters<typeof libraryOf>[0];

/** Returns the address of a request that the library writes and signs for a provider. */
export const libraryRequest = (sides: Sides, user: Partial<Profile>, relayState = ""): Promise<string> =>
  libraryOf(sides).getLogoutUrlAsync(user as Profile, relayState, {});

/** Returns the address of an answer that the library writes and signs for a provider. */
export const libraryResponse = (sides: Sides, inResponseTo: string, relayState: string): Promise<string> =>
  libraryOf(sides).getLogoutResponseUrlAsync({ ID: inResponseTo } as never, relayState, {}, true);

/**
 * Reads and verifies a message of the service provider by the library.
 *
 * @throws if it does not accept it
 */
export async function readByLibrary(sides: Sides, address: string): Promise<Profile | null> {
  const { search, searchParams } = new URL(address);
  if (!searchParams.has("Signature")) throw new Error("the message is not signed");
  const query = Object.fromEntries(searchParams);
  return (await libraryOf(sides).validateRedirectAsync(query, search.slice(1))).profile;
}
