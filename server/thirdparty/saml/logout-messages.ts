import type { SamlSession } from "../../sessions/provider-sessions.ts";
import { CLOCK_SKEW_MS, instantOf, isEntity } from "./assertion.ts";
import { childOf, childrenOf, validateSchema } from "./response-schema.ts";
import { readXml, textOf, type XmlElement, type XmlLimits } from "./xml.ts";
import { XmlError } from "./xml-error.ts";
import { escapeXml } from "./xml-escape.ts";

/** Requests to sign out and their answers (SAML Core 2.0, 3.7). */

/** How old a message may be when it arrives: browsers bring it at once. */
const MAX_MESSAGE_AGE_MS = 5 * 60_000;

const MESSAGE_LIMITS: XmlLimits = { bytes: 64 * 1024, elements: 64, comments: false };

const success = "urn:oasis:names:tc:SAML:2.0:status:Success";

/** Who sends a message to whom. */
interface Sending {
  id: string;
  /** Our entity id. */
  issuer: string;
  destination: string;
  now: Date;
}

const head = (element: string, { id, issuer, destination, now }: Sending, more = "") =>
  `<samlp:${element} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${now.toISOString()}" Destination="${escapeXml(destination)}"${more}><saml:Issuer>${escapeXml(issuer)}</saml:Issuer>`;

/** Returns the request to end a session at a provider. */
export function logoutRequestXml(
  sending: Sending,
  { nameId: { value, ...qualifiers }, sessionIndexes }: SamlSession,
): string {
  const attribute = (name: string, text: string | undefined) =>
    text === undefined ? "" : ` ${name}="${escapeXml(text)}"`;
  const nameId = `<saml:NameID${attribute("NameQualifier", qualifiers.nameQualifier)}${attribute("SPNameQualifier", qualifiers.spNameQualifier)}${attribute("Format", qualifiers.format)}>${escapeXml(value)}</saml:NameID>`;
  const indexes = sessionIndexes.map(
    (index) => `<samlp:SessionIndex>${escapeXml(index)}</samlp:SessionIndex>`,
  );
  return `${head("LogoutRequest", sending)}${nameId}${indexes.join("")}</samlp:LogoutRequest>`;
}

/** Returns the answer to a request that was obeyed. */
export function logoutResponseXml(sending: Sending, inResponseTo: string): string {
  const more = ` InResponseTo="${inResponseTo}"`;
  return `${head("LogoutResponse", sending, more)}<samlp:Status><samlp:StatusCode Value="${success}"/></samlp:Status></samlp:LogoutResponse>`;
}

/**
 * Parses a message, whose signature is not verified here.
 *
 * @returns null if it is not an acceptable document of this kind
 */
export function parseLogoutMessage(
  document: Uint8Array,
  kind: "samlp:LogoutRequest" | "samlp:LogoutResponse",
): XmlElement | null {
  try {
    const message = readXml(document, MESSAGE_LIMITS);
    if (message.kind !== kind) return null;
    validateSchema(message);
    return message;
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return null;
  }
}

/** Returns the entity id that a message names. */
export function issuerOf(message: XmlElement): string {
  const issuer = childOf(message, "saml:Issuer");
  return issuer ? textOf(issuer) : "";
}

/** What a message is verified against. */
interface Expected {
  /** Entity id of the provider. */
  issuer: string;
  /** Our address. */
  destination: string;
  now: Date;
}

type Rejection =
  | "version"
  | "issuer"
  | "destination"
  | "issue_instant"
  | "expired"
  | "content"
  | "in_response_to";

/** The content of a verified request. */
export interface LogoutRequest {
  id: string;
  nameId: string;
  /** Empty for every session of the name identifier. */
  sessionIndexes: string[];
  /** Until when a copy of it would be accepted. */
  expiresAt: Date;
}

/** Verifies a request of a provider (SAML Core 2.0, 3.2.1 and 3.7.1; Bindings 2.0, 3.4.5.2), whose signature was verified. */
export function verifyLogoutRequest(
  message: XmlElement,
  expected: Expected,
): { ok: true; request: LogoutRequest } | { ok: false; reason: Rejection } {
  const rejection = rejectionOf(message, expected);
  if (rejection) return { ok: false, reason: rejection };
  if (message.attributes.has("NotOnOrAfter")) {
    const until = instantOf(message, "NotOnOrAfter");
    if (!until || until.getTime() <= expected.now.getTime() - CLOCK_SKEW_MS)
      return { ok: false, reason: "expired" };
  }
  const nameId = childOf(message, "saml:NameID");
  const id = message.attributes.get("ID");
  const sessionIndexes = childrenOf(message, "samlp:SessionIndex").map(textOf);
  if (!id || !nameId || textOf(nameId) === "" || sessionIndexes.includes(""))
    return { ok: false, reason: "content" };
  const expiresAt = new Date(expected.now.getTime() + MAX_MESSAGE_AGE_MS + CLOCK_SKEW_MS);
  return { ok: true, request: { id, nameId: textOf(nameId), sessionIndexes, expiresAt } };
}

/**
 * Verifies the answer to our request (SAML Core 2.0, 3.2.2 and 3.7.2), whose signature was verified.
 *
 * @returns `success`: whether the provider says that the session has ended
 */
export function verifyLogoutResponse(
  message: XmlElement,
  expected: Expected & { requestId: string },
): { ok: true; success: boolean } | { ok: false; reason: Rejection } {
  const rejection = rejectionOf(message, expected);
  if (rejection) return { ok: false, reason: rejection };
  if (message.attributes.get("InResponseTo") !== expected.requestId)
    return { ok: false, reason: "in_response_to" };
  const status = childOf(childOf(message, "samlp:Status"), "samlp:StatusCode")?.attributes.get("Value");
  return { ok: true, success: status === success };
}

function rejectionOf(message: XmlElement, { issuer, destination, now }: Expected): Rejection | null {
  if (message.attributes.get("Version") !== "2.0") return "version";
  const named = childOf(message, "saml:Issuer");
  if (!named || !isEntity(named, issuer)) return "issuer";
  if (message.attributes.get("Destination") !== destination) return "destination";
  const issuedAt = instantOf(message, "IssueInstant")?.getTime();
  const [since, until] = [now.getTime() - MAX_MESSAGE_AGE_MS - CLOCK_SKEW_MS, now.getTime() + CLOCK_SKEW_MS];
  return issuedAt === undefined || issuedAt < since || issuedAt > until ? "issue_instant" : null;
}
