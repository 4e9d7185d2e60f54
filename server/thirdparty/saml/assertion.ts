import { childOf, childrenOf } from "./response-schema.ts";
import { textOf, type XmlElement } from "./xml.ts";

/** How far clocks may differ. */
export const CLOCK_SKEW_MS = 60_000;

/** What an assertion must say to be for us, now, and the answer to what was asked. */
export interface AssertionExpectations {
  /** Entity id of the provider. */
  issuer: string;
  audience: string;
  /** Address of our assertion consumer service. */
  recipient: string;
  /** Id of our request; null when there was none, and there must be no answer to one. */
  requestId: string | null;
  /** From when on the person must have signed in there; null when that does not matter. */
  signedInSince: Date | null;
  now: Date;
}

/** What an assertion says of a person. */
export interface AssertionStatement {
  /** Of the assertion: unique for its issuer (SAML Core 2.0, 1.3.4). */
  id: string;
  nameId: { value: string; format: string };
  /** Values of each attribute by its `Name`, in order. */
  attributes: ReadonlyMap<string, string[]>;
  /** From here on the assertion counts no more, whoever shows it. */
  expiresAt: Date;
}

export type SamlVerdict = { ok: true; statement: AssertionStatement } | { ok: false; reason: string };

const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const entity = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity";

/**
 * Judges an assertion by the Web Browser SSO profile (SAML Profiles 2.0, 4.1.4.3, and Core 2.0, 2.3 to 2.7). That it
 * is the provider's own has been verified before.
 *
 * @param response the element around it: what it says can only make things worse
 * @param assertion read from the bytes that the signature covers
 */
export function verifySamlAssertion(
  response: XmlElement,
  assertion: XmlElement,
  expected: AssertionExpectations,
): SamlVerdict {
  const refuse = (reason: string): SamlVerdict => ({ ok: false, reason });
  const { now } = expected;

  // Ensure both are of SAML 2.0, by this provider, and not from the future.
  for (const element of [response, assertion]) {
    if (element.attributes.get("Version") !== "2.0") return refuse("version");
    const issuedAt = instant(element, "IssueInstant");
    if (!issuedAt || issuedAt.getTime() > now.getTime() + CLOCK_SKEW_MS) return refuse("issue_instant");
    const issuer = childOf(element, "saml:Issuer");
    if (issuer ? !isEntity(issuer, expected.issuer) : element === assertion) return refuse("issuer");
  }

  // Ensure the response was meant for this address (Bindings 2.0, 3.5.5.2: signed ones must say so).
  const destination = response.attributes.get("Destination");
  const mustSay = childOf(response, "ds:Signature") !== undefined;
  if (destination === undefined ? mustSay : destination !== expected.recipient) return refuse("destination");
  if (!isInResponseTo(response, expected)) return refuse("in_response_to");

  // Ensure whoever bears the assertion is its subject: here, for a while, and for our request.
  const subject = childOf(assertion, "saml:Subject");
  const confirmation = childrenOf(subject ?? assertion, "saml:SubjectConfirmation")
    .filter(({ attributes }) => attributes.get("Method") === bearer)
    .map((each) => childOf(each, "saml:SubjectConfirmationData"))
    .find((data) => data !== undefined);
  if (!confirmation) return refuse("subject_confirmation");
  if (confirmation.attributes.get("Recipient") !== expected.recipient) return refuse("recipient");
  if (!isInResponseTo(confirmation, expected)) return refuse("in_response_to");
  const confirmedUntil = instant(confirmation, "NotOnOrAfter");
  if (!confirmedUntil || !isCurrent(confirmation, now)) return refuse("subject_confirmation_time");

  // Ensure the conditions hold (Core 2.0, 2.5): every audience restriction names us.
  const conditions = childOf(assertion, "saml:Conditions");
  if (!conditions || !isCurrent(conditions, now)) return refuse("conditions_time");
  const restrictions = childrenOf(conditions, "saml:AudienceRestriction");
  const forUs = (restriction: XmlElement) =>
    childrenOf(restriction, "saml:Audience").some((audience) => textOf(audience) === expected.audience);
  if (restrictions.length === 0 || !restrictions.every(forUs)) return refuse("audience");

  // Ensure the person signed in there, as lately as was asked for, and still is.
  const statements = childrenOf(assertion, "saml:AuthnStatement");
  if (!statements.some((statement) => isSignedIn(statement, expected))) return refuse("authn_statement");

  const nameId = childOf(subject, "saml:NameID");
  const id = assertion.attributes.get("ID");
  if (!nameId || textOf(nameId) === "" || !id) return refuse("name_id");
  const until = instant(conditions, "NotOnOrAfter") ?? confirmedUntil;
  return {
    ok: true,
    statement: {
      id,
      nameId: { value: textOf(nameId), format: nameId.attributes.get("Format") ?? "" },
      attributes: attributesOf(assertion),
      expiresAt: new Date(Math.max(until.getTime(), confirmedUntil.getTime())),
    },
  };
}

/** Core 2.0, 2.2.5: an issuer is an entity id, and nothing beside it. */
function isEntity(issuer: XmlElement, entityId: string): boolean {
  return textOf(issuer) === entityId && (issuer.attributes.get("Format") ?? entity) === entity;
}

function isInResponseTo({ attributes }: XmlElement, { requestId }: AssertionExpectations): boolean {
  return attributes.get("InResponseTo") === (requestId ?? undefined);
}

/** Whether now lies between `NotBefore` and `NotOnOrAfter`, as far as they are there. */
function isCurrent(element: XmlElement, now: Date): boolean {
  const { attributes } = element;
  const from = attributes.has("NotBefore") ? instant(element, "NotBefore") : new Date(0);
  if (!from || from.getTime() > now.getTime() + CLOCK_SKEW_MS) return false;
  if (!attributes.has("NotOnOrAfter")) return true;
  const until = instant(element, "NotOnOrAfter");
  return until !== null && until.getTime() > now.getTime() - CLOCK_SKEW_MS;
}

function isSignedIn(statement: XmlElement, { signedInSince, now }: AssertionExpectations): boolean {
  const at = instant(statement, "AuthnInstant");
  if (!at || at.getTime() > now.getTime() + CLOCK_SKEW_MS) return false;
  if (signedInSince && at.getTime() < signedInSince.getTime() - CLOCK_SKEW_MS) return false;
  if (!statement.attributes.has("SessionNotOnOrAfter")) return true;
  const until = instant(statement, "SessionNotOnOrAfter");
  return until !== null && until.getTime() > now.getTime() - CLOCK_SKEW_MS;
}

function attributesOf(assertion: XmlElement): ReadonlyMap<string, string[]> {
  const attributes = new Map<string, string[]>();
  const written = childrenOf(assertion, "saml:AttributeStatement").flatMap((statement) => statement.children);
  for (const attribute of written) {
    const name = attribute.attributes.get("Name");
    if (name === undefined) continue;
    // The identifiers of some providers stand in an element of their own (eduPersonTargetedID).
    const values = attribute.children.map((value) => textOf(childOf(value, "saml:NameID") ?? value));
    attributes.set(name, [...(attributes.get(name) ?? []), ...values.filter((value) => value !== "")]);
  }
  return attributes;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Core 2.0, 1.3.3: a moment, with its time zone. Null for anything else. */
function instant({ attributes }: XmlElement, name: string): Date | null {
  const text = attributes.get(name) ?? "";
  const milliseconds = dateTime.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds);
}
