import type { UafAlgorithm } from "./keys.ts";

/**
 * How a UAF client reads what a server asks (UAF Protocol Specification 1.1, sections 3.1, 3.4.6.2 and 3.5.7.2). Where
 * the published Android client is narrower than the specification, so is this one.
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

/** Why a client does not answer, by the number that its interface has for it (UAF Application API, section 3.3). */
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
 * The one message of a request that this client can answer: 1.1 before 1.0.
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

/** @throws UafClientError when a member is missing, of another type, too short or too long */
export function checkRequest({ challenge, username, policy, header }: UafRequest): void {
  must(typeof challenge === "string" && /^[A-Za-z0-9_-]+$/.test(challenge));
  const { length } = Buffer.from(challenge, "base64url");
  must(length >= 8 && length <= 64);
  must(header.op !== "Reg" || within(username, 1, 128));
  must(Array.isArray(policy?.accepted) && policy.accepted.length > 0);
}

/**
 * Whether an application may use this appID: it is empty, it is the application itself, or it is the https address of
 * a list that names the application for version 1.0, which is all that the published client reads. As in browsers, this machine needs
 * no TLS.
 *
 * @param list what that address answers; undefined where nobody fetched it, and the facet is taken for trusted
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

/** The content to show: the entry of plain text, at most 200 characters of base64url; null for no transaction. */
export function shownTransaction(transactions: readonly Transaction[] | undefined): Buffer | null {
  if (transactions === undefined) return null;
  const shown = transactions.find(({ contentType }) => contentType === "text/plain");
  if (!shown) throw new UafClientError("noSuitableAuthenticator");
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(shown.content)) throw new UafClientError("badTransactionContent");
  return Buffer.from(shown.content, "base64url");
}

/** What a policy is compared with. */
export interface Model {
  aaid: string;
  algorithm: UafAlgorithm;
  /** The attestation's tag. */
  attestationType: number;
}

/**
 * The key ids that a policy leaves: a list of them, `any`, or null where it does not want this authenticator. Of the
 * inner lists only those of one criterion count: there is one authenticator.
 *
 * @param held base64url ids of the keys that the authenticator holds for the application
 */
export function chosenKeys(
  { accepted, disallowed = [] }: UafRequest["policy"],
  model: Model,
  held: readonly string[],
): readonly string[] | "any" | null {
  const barred = disallowed.some(
    (criterion) => fits(criterion, model) && (criterion.keyIDs?.some((id) => held.includes(id)) ?? true),
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

/** A list that is there must hold exactly the one entry that is the authenticator's. */
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
