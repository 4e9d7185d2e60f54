import type { UafAlgorithm } from "./keys.ts";

/**
 * Parses requests as a UAF client does (UAF Protocol Specification 1.1, sections 3.1, 3.4.6.2 and 3.5.7.2). Where the
 * published Android client is stricter than the specification, so is this one.
 */

export interface Version {
  major: number;
  minor: number;
}

export interface Header {
  upv: Version;
  op: string;
  appID?: string;
  serverData?: string;
  exts?: unknown[];
}

export interface Transaction {
  contentType: string;
  /** base64url */
  content: string;
}

export interface Criterion {
  aaid?: string[];
  keyIDs?: string[];
  authenticationAlgorithms?: number[];
  assertionSchemes?: string[];
  attestationTypes?: number[];
  [other: string]: unknown;
}

export interface UafRequest {
  header: Header;
  challenge: string;
  username?: string;
  transaction?: Transaction[];
  policy: { accepted: Criterion[][]; disallowed?: Criterion[] };
}

export interface UafDeregistration {
  header: Header;
  authenticators: { aaid: string; keyID: string }[];
}

/** Error codes of UAF clients (UAF Application API, section 3.3). */
export const clientErrors = {
  insecureTransport: 0x2,
  userCancelled: 0x3,
  unsupportedVersion: 0x4,
  noSuitableAuthenticator: 0x5,
  protocolError: 0x6,
  untrustedFacet: 0x7,
  badTransactionContent: 0xd,
} as const;

export class UafClientError extends Error {
  readonly code: number;
  constructor(name: keyof typeof clientErrors) {
    super(name);
    this.name = "UafClientError";
    this.code = clientErrors[name];
  }
}

/**
 * Parses the message of a request that this client answers: version 1.1 before 1.0.
 *
 * @param text a JSON array of messages, one for each version
 * @throws UafClientError
 */
export function readMessage<Message extends { header: Header }>(text: string, op: string): Message {
  let messages: Message[];
  try {
    messages = JSON.parse(text) as Message[];
  } catch {
    throw new UafClientError("protocolError");
  }
  if (!Array.isArray(messages)) throw new UafClientError("protocolError");
  const of = (minor: number) =>
    messages.filter((one) => one?.header?.upv?.major === 1 && one.header.upv.minor === minor);
  if (of(1).length > 1 || of(0).length > 1) throw new UafClientError("protocolError");
  const message = of(1)[0] ?? of(0)[0];
  if (!message) throw new UafClientError("unsupportedVersion");
  const { header } = message;
  must(header.op === op);
  must(header.appID === undefined || within(header.appID, 0, 512));
  must(header.serverData === undefined || within(header.serverData, 1, 1536));
  return message;
}

/** @throws UafClientError if a member is missing, of another type, too short or too long */
export function checkRequest({ challenge, username, policy, header }: UafRequest): void {
  must(typeof challenge === "string" && /^[A-Za-z0-9_-]+$/.test(challenge));
  const { length } = Buffer.from(challenge, "base64url");
  must(length >= 8 && length <= 64);
  must(header.op !== "Reg" || within(username, 1, 128));
  must(Array.isArray(policy?.accepted) && policy.accepted.length > 0);
}

/**
 * Checks that an application may use an appID: it is empty, the application itself, or the https URL of a list that
 * contains the application for version 1.0, the only version that the published client reads. As in browsers, localhost
 * needs no TLS.
 *
 * @param list the fetched list; undefined: the facet is trusted
 * @throws UafClientError
 */
export function checkFacet(appId: string, facetId: string, list: unknown): void {
  if (appId === "" || appId === facetId) return;
  if (!/^https:\/\/|^http:\/\/localhost(?=[:/])/.test(appId)) throw new UafClientError("insecureTransport");
  if (list === undefined) return;
  const { trustedFacets } = list as { trustedFacets?: { version: Version; ids: string[] }[] };
  const entry = trustedFacets?.find(({ version }) => version.major === 1 && version.minor === 0);
  if (!entry?.ids.includes(facetId)) throw new UafClientError("untrustedFacet");
}

/**
 * Returns the content to show: the plain text; null without a transaction.
 *
 * @param maxCharacters of base64url
 */
export function shownTransaction(
  transactions: readonly Transaction[] | undefined,
  maxCharacters: number,
): Buffer | null {
  if (transactions === undefined) return null;
  const shown = transactions.find(({ contentType }) => contentType === "text/plain");
  if (!shown) throw new UafClientError("noSuitableAuthenticator");
  if (!/^[A-Za-z0-9_-]+$/.test(shown.content) || shown.content.length > maxCharacters)
    throw new UafClientError("badTransactionContent");
  return Buffer.from(shown.content, "base64url");
}

/** The properties that a policy can match. */
export interface Model {
  aaid: string;
  algorithm: UafAlgorithm;
  /** The attestation's tag. */
  attestationType: number;
}

/**
 * Returns the key ids that a policy accepts: a list, `any`, or null if it excludes this authenticator. Inner lists of
 * several criteria are ignored, because there is one authenticator.
 *
 * @param keyIds base64url ids of the authenticator's keys for the application
 */
export function chosenKeys(
  { accepted, disallowed = [] }: UafRequest["policy"],
  model: Model,
  keyIds: readonly string[],
): readonly string[] | "any" | null {
  const barred = disallowed.some(
    (criterion) => fits(criterion, model) && (criterion.keyIDs?.some((id) => keyIds.includes(id)) ?? true),
  );
  if (barred) return null;
  const found = accepted
    .filter((inner) => inner.length === 1)
    .flat()
    .filter((one) => fits(one, model));
  if (found.length === 0) return null;
  return found.some(({ keyIDs }) => keyIDs === undefined)
    ? "any"
    : found.flatMap(({ keyIDs = [] }) => keyIDs);
}

/** A present list must consist of the authenticator's value alone. */
function fits(criterion: Criterion, { aaid, algorithm, attestationType }: Model): boolean {
  const own: [unknown[] | undefined, unknown][] = [
    [criterion.aaid, aaid],
    [criterion.authenticationAlgorithms, algorithm],
    [criterion.assertionSchemes, "UAFV1TLV"],
    [criterion.attestationTypes, attestationType],
  ];
  const named = criterion.aaid ?? (criterion.authenticationAlgorithms && criterion.assertionSchemes);
  return (
    named !== undefined && own.every(([list, value]) => !list || (list.length === 1 && list[0] === value))
  );
}

const within = (value: unknown, least: number, most: number): value is string =>
  typeof value === "string" && value.length >= least && value.length <= most;

function must(holds: boolean): void {
  if (!holds) throw new UafClientError("protocolError");
}
