import type { SamlSession } from "../../sessions/provider-sessions.ts";
import { childOf, childrenOf } from "./response-schema.ts";
import { textOf, type XmlElement } from "./xml.ts";

/** Tolerance for clock differences. */
export const CLOCK_SKEW_MS = 60_000;

/** What an assertion is verified against. */
export interface AssertionExpectations {
  /** Entity id of the provider. */
  issuer: string;
  audience: string;
  /** Address of our assertion consumer service. */
  recipient: string;
  /** Id of our request; null for an IdP-initiated response, which must not refer to a request. */
  requestId: string | null;
  /** Earliest accepted authentication at the provider; null for any. */
  signedInSince: Date | null;
  now: Date;
}

/** The content of a verified assertion. */
export interface AssertionStatement {
  /** Id of the assertion, unique for its issuer (SAML Core 2.0, 1.3.4). */
  id: string;
  nameId: { value: string; format: string };
  /** How the provider names its session with the user, for the sign-out (SAML Profiles 2.0, 4.4.4.1). */
  session: SamlSession;
  /** Values of each attribute by its `Name`, in order. */
  attributes: ReadonlyMap<string, string[]>;
  /** When the assertion expires. */
  expiresAt: Date;
}

/** What is wrong with an assertion. */
type AssertionRejection =
  | "version"
  | "issue_instant"
  | "issuer"
  | "destination"
  | "in_response_to"
  | "subject_confirmation"
  | "recipient"
  | "subject_confirmation_time"
  | "conditions_time"
  | "audience"
  | "authn_statement"
  | "name_id";

export type SamlVerdict =
  | { ok: true; statement: AssertionStatement }
  | { ok: false; reason: AssertionRejection };

const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const entity = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity";

/**
 * Verifies an assertion by the Web Browser SSO profile (SAML Profiles 2.0, 4.1.4.3, and Core 2.0, 2.3 to 2.7). Its
 * signature must have been verified before.
 *
 * @param response the enclosing element, which may be unsigned; its content can only cause a rejection
 * @param assertion parsed from the signed bytes
 */
export function verifySamlAssertion(
  response: XmlElement,
  assertion: XmlElement,
  expected: AssertionExpectations,
): SamlVerdict {
  const reject = (reason: AssertionRejection): SamlVerdict => ({ ok: false, reason });
  const { now } = expected;

  // Verify version, issuer and time of issue of both.
  for (const element of [response, assertion]) {
    if (element.attributes.get("Version") !== "2.0") return reject("version");
    const issuedAt = instantOf(element, "IssueInstant");
    if (!issuedAt || issuedAt.getTime() > now.getTime() + CLOCK_SKEW_MS) return reject("issue_instant");
    const issuer = childOf(element, "saml:Issuer");
    if (issuer ? !isEntity(issuer, expected.issuer) : element === assertion) return reject("issuer");
  }

  // Verify the destination (Bindings 2.0, 3.5.5.2: required in signed responses).
  const destination = response.attributes.get("Destination");
  const isRequired = childOf(response, "ds:Signature") !== undefined;
  if (destination === undefined ? isRequired : destination !== expected.recipient)
    return reject("destination");
  if (!isInResponseTo(response, expected)) return reject("in_response_to");

  // Verify the bearer confirmation: recipient, request and expiry.
  const subject = childOf(assertion, "saml:Subject");
  const confirmation = childrenOf(subject ?? assertion, "saml:SubjectConfirmation")
    .filter(({ attributes }) => attributes.get("Method") === bearer)
    .map((each) => childOf(each, "saml:SubjectConfirmationData"))
    .find((data) => data !== undefined);
  if (!confirmation) return reject("subject_confirmation");
  if (confirmation.attributes.get("Recipient") !== expected.recipient) return reject("recipient");
  if (!isInResponseTo(confirmation, expected)) return reject("in_response_to");
  const confirmedUntil = instantOf(confirmation, "NotOnOrAfter");
  if (!confirmedUntil || !isCurrent(confirmation, now)) return reject("subject_confirmation_time");

  // Verify the conditions (Core 2.0, 2.5): every audience restriction must name us.
  const conditions = childOf(assertion, "saml:Conditions");
  if (!conditions || !isCurrent(conditions, now)) return reject("conditions_time");
  const restrictions = childrenOf(conditions, "saml:AudienceRestriction");
  const namesOurAudience = (restriction: XmlElement) =>
    childrenOf(restriction, "saml:Audience").some((audience) => textOf(audience) === expected.audience);
  if (restrictions.length === 0 || !restrictions.every(namesOurAudience)) return reject("audience");

  // Verify that the authentication is recent enough and its session has not ended.
  const statements = childrenOf(assertion, "saml:AuthnStatement");
  if (!statements.some((statement) => isSignedIn(statement, expected))) return reject("authn_statement");

  const nameId = childOf(subject, "saml:NameID");
  const id = assertion.attributes.get("ID");
  if (!nameId || textOf(nameId) === "" || !id) return reject("name_id");
  const qualifier = (attribute: string) => nameId.attributes.get(attribute) || undefined;
  const until = instantOf(conditions, "NotOnOrAfter") ?? confirmedUntil;
  return {
    ok: true,
    statement: {
      id,
      nameId: { value: textOf(nameId), format: nameId.attributes.get("Format") ?? "" },
      session: {
        nameId: {
          value: textOf(nameId),
          format: qualifier("Format"),
          nameQualifier: qualifier("NameQualifier"),
          spNameQualifier: qualifier("SPNameQualifier"),
        },
        sessionIndexes: statements.flatMap(({ attributes }) => attributes.get("SessionIndex") || []),
      },
      attributes: attributesOf(assertion),
      expiresAt: new Date(Math.max(until.getTime(), confirmedUntil.getTime())),
    },
  };
}

/** Core 2.0, 2.2.5: an issuer is an entity id. */
export function isEntity(issuer: XmlElement, entityId: string): boolean {
  return textOf(issuer) === entityId && (issuer.attributes.get("Format") ?? entity) === entity;
}

function isInResponseTo({ attributes }: XmlElement, { requestId }: AssertionExpectations): boolean {
  return attributes.get("InResponseTo") === (requestId ?? undefined);
}

/** Whether the present is between `NotBefore` and `NotOnOrAfter`, if present. */
function isCurrent(element: XmlElement, now: Date): boolean {
  const { attributes } = element;
  const from = attributes.has("NotBefore") ? instantOf(element, "NotBefore") : new Date(0);
  if (!from || from.getTime() > now.getTime() + CLOCK_SKEW_MS) return false;
  if (!attributes.has("NotOnOrAfter")) return true;
  const until = instantOf(element, "NotOnOrAfter");
  return until !== null && until.getTime() > now.getTime() - CLOCK_SKEW_MS;
}

function isSignedIn(statement: XmlElement, { signedInSince, now }: AssertionExpectations): boolean {
  const at = instantOf(statement, "AuthnInstant");
  if (!at || at.getTime() > now.getTime() + CLOCK_SKEW_MS) return false;
  if (signedInSince && at.getTime() < signedInSince.getTime() - CLOCK_SKEW_MS) return false;
  if (!statement.attributes.has("SessionNotOnOrAfter")) return true;
  const until = instantOf(statement, "SessionNotOnOrAfter");
  return until !== null && until.getTime() > now.getTime() - CLOCK_SKEW_MS;
}

function attributesOf(assertion: XmlElement): ReadonlyMap<string, string[]> {
  const attributes = new Map<string, string[]>();
  const written = childrenOf(assertion, "saml:AttributeStatement").flatMap((statement) => statement.children);
  for (const attribute of written) {
    const name = attribute.attributes.get("Name");
    if (name === undefined) continue;
    // Some identifiers are in an element of their own (eduPersonTargetedID).
    const values = attribute.children.map((value) => textOf(childOf(value, "saml:NameID") ?? value));
    attributes.set(name, [...(attributes.get(name) ?? []), ...values.filter((value) => value !== "")]);
  }
  return attributes;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Parses a time with its zone (Core 2.0, 1.3.3); null for any other value. */
export function instantOf({ attributes }: XmlElement, name: string): Date | null {
  const text = attributes.get(name) ?? "";
  const milliseconds = dateTime.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds);
}
