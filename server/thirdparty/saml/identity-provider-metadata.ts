import { X509Certificate } from "node:crypto";
import { childOf, childrenOf } from "./response-schema.ts";
import { readXml, type XmlElement } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

/** The used parts of a provider's metadata (SAML Metadata 2.0). */
export interface IdentityProviderMetadata {
  entityId: string;
  /** Single sign-on URL of the HTTP-Redirect binding. */
  signOnUrl: string;
  /** Single logout URLs of that binding, for requests and for responses; null if it has none. */
  logout: { requestUrl: string; responseUrl: string } | null;
  /** PEM of every signing certificate; several during a key rollover. */
  certificates: string[];
  /** Whether it wants signed requests (SAML Metadata 2.0, 2.4.3). */
  wantsSignedRequests: boolean;
  /** When the metadata expires; null if it does not say. */
  validUntil: Date | null;
}

const METADATA_LIMITS = { bytes: 512 * 1024, elements: 20_000, comments: true };

const protocol = "urn:oasis:names:tc:SAML:2.0:protocol";
const redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";

/** The size of the provider column, less the prefix. */
const MAX_ENTITY_ID_LENGTH = 500;
const MAX_CERTIFICATES = 8;
const MIN_KEY_BITS = 2048;

/**
 * Parses the metadata of one identity provider. Its signature is not verified: it comes from the operator, or over TLS
 * from a URL that the operator configured.
 *
 * @param document UTF-8
 * @param plainHttp whether a sign-on URL without TLS is allowed
 * @throws XmlError whose message is for the operator
 */
export function parseMetadata(
  document: Uint8Array | string,
  { plainHttp }: { plainHttp: boolean },
): IdentityProviderMetadata {
  const entity = onlyProvider(readXml(document, METADATA_LIMITS));
  const role = rolesOf(entity)[0] as XmlElement;
  const entityId = entity.attributes.get("entityID") ?? "";
  if (entityId === "" || entityId.length > MAX_ENTITY_ID_LENGTH)
    throw new XmlError("entityID is missing or too long");
  const service = childrenOf(role, "md:SingleSignOnService").find(
    ({ attributes }) => attributes.get("Binding") === redirectBinding,
  );
  const signOnUrl = service?.attributes.get("Location") ?? "";
  if (!isAcceptableUrl(signOnUrl, plainHttp))
    throw new XmlError("there is no SingleSignOnService by HTTP-Redirect at an https address");
  const certificates = certificatesOf(role);
  if (certificates.length === 0)
    throw new XmlError("there is no signing certificate of an RSA key of 2048 bits");
  return {
    entityId,
    signOnUrl,
    logout: logoutOf(role, plainHttp),
    certificates,
    wantsSignedRequests: ["true", "1"].includes(role.attributes.get("WantAuthnRequestsSigned") ?? ""),
    validUntil: earliest(entity, role),
  };
}

/** Metadata without an acceptable service is usable all the same, for signing in. */
function logoutOf(role: XmlElement, plainHttp: boolean): IdentityProviderMetadata["logout"] {
  const service = childrenOf(role, "md:SingleLogoutService").find(
    ({ attributes }) => attributes.get("Binding") === redirectBinding,
  );
  const requestUrl = service?.attributes.get("Location") ?? "";
  const responseUrl = service?.attributes.get("ResponseLocation") ?? requestUrl;
  return [requestUrl, responseUrl].every((url) => isAcceptableUrl(url, plainHttp))
    ? { requestUrl, responseUrl }
    : null;
}

function onlyProvider(root: XmlElement): XmlElement {
  const entities = root.kind === "md:EntitiesDescriptor" ? childrenOf(root, "md:EntityDescriptor") : [root];
  const providers = entities.filter(
    (each) => each.kind === "md:EntityDescriptor" && rolesOf(each).length > 0,
  );
  const [provider] = providers;
  if (!provider || providers.length > 1)
    throw new XmlError("the metadata must describe exactly one identity provider");
  return provider;
}

function rolesOf(entity: XmlElement): XmlElement[] {
  return childrenOf(entity, "md:IDPSSODescriptor").filter(({ attributes }) =>
    (attributes.get("protocolSupportEnumeration") ?? "").split(/\s+/).includes(protocol),
  );
}

function isAcceptableUrl(text: string, plainHttp: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol: scheme, username, password, hash } = new URL(text);
  const bare = username === "" && password === "" && hash === "";
  return bare && (scheme === "https:" || (plainHttp && scheme === "http:"));
}

function certificatesOf(role: XmlElement): string[] {
  return childrenOf(role, "md:KeyDescriptor")
    .filter(({ attributes }) => (attributes.get("use") ?? "signing") === "signing")
    .flatMap((descriptor) => childrenOf(childOf(descriptor, "ds:KeyInfo") ?? descriptor, "ds:X509Data"))
    .flatMap((data) => childrenOf(data, "ds:X509Certificate"))
    .flatMap(({ text }) => certificate(text))
    .slice(0, MAX_CERTIFICATES);
}

/** The validity period of a certificate is ignored (SAML V2.0 Metadata Interoperability Profile). */
function certificate(text: string): string[] {
  try {
    const parsed = new X509Certificate(Buffer.from(text, "base64"));
    const { asymmetricKeyType, asymmetricKeyDetails } = parsed.publicKey;
    const strong = asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_KEY_BITS;
    return strong ? [parsed.toString()] : [];
  } catch {
    return [];
  }
}

function earliest(...elements: XmlElement[]): Date | null {
  const moments = elements.flatMap(({ attributes }) => {
    const text = attributes.get("validUntil");
    if (text === undefined) return [];
    const milliseconds = Date.parse(text);
    if (Number.isNaN(milliseconds)) throw new XmlError("validUntil is not a time");
    return [milliseconds];
  });
  return moments.length === 0 ? null : new Date(Math.min(...moments));
}
