import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JWK } from "jose";
import type { CoseAlgorithm } from "./cose-key.ts";
import { coseKeyOf } from "./cose-key.ts";
import { type FlowClient, flowClient, type State } from "./flow-client.ts";
import { allJourneys } from "./journeys/index.ts";
import { type Fixtures, newPerson, type Person, type Walk } from "./journeys/journey.ts";
import { withClient } from "./postgres-cluster.ts";
import { createUafAuthenticator, type UafAuthenticator } from "./uaf-authenticator/authenticator.ts";
import type { Authenticator, Credential } from "./webauthn-authenticator.ts";

/** The releases whose databases `scripts/record-former-release.ts` has recorded, with who uses them. */
export const recordedReleases = ["0.2", "0.3"] as const;

/**
 * The folder of a recording: `stile.config.json`, `database.sql` and `users.json`.
 *
 * @param release such as `0.3`
 */
export const recordingFolder = (release: string) => join(import.meta.dirname, `release-${release}`);

/** What its users and applications hold: cookies, states of flows, private keys, API keys, codes. All are of tests. */
export interface Recording {
  /** ISO 8601 */
  recordedAt: string;
  /** Address of the identity provider, which is another one at each start. */
  issuer: string;
  /** Origin of the SAML provider. */
  samlOrigin: string;
  walks: RecordedWalk[];
  /** A browser that is trusted for an account with a second factor. */
  trusted: { person: RecordedPerson; cookies: Cookies };
  /** A login whose code was not mailed: its job waits. */
  unmailed: RecordedWalk;
  /** A login whose code by SMS was not sent. Release 0.2 has none. */
  unsent?: RecordedWalk;
  /** The code of a sign-in for an application, with its verifier. */
  authorization: { person: RecordedPerson; code: string; code_verifier: string; redirect_to: string };
  tenant: { id: string; person: RecordedPerson; cookies: Cookies };
  passkeys: {
    key: string;
    userId: string;
    credentials: RecordedCredential[];
    /** Options of a login and of a transaction that wait for their answers. */
    login: unknown;
    transaction: unknown;
    /** Token of the page that asks for confirmation of it. */
    pageToken: string;
    /** Of a transaction that was confirmed, and whose code was not redeemed. */
    code: string;
  };
  authenticator: {
    key: string;
    userId: string;
    phone: RecordedUafKey[];
    pushToken: string;
    /** A request that waits for its answer: its address for the phone, and the phone's credential. */
    request: { id: string; path: string; device: string };
  };
}

type Cookies = Record<string, string>;

/** A walk of a journey, with its browser. */
export interface RecordedWalk {
  journey: string;
  steps: number;
  state: State;
  cookies: Cookies;
  person: RecordedPerson;
}

export interface RecordedPerson
  extends Pick<
    Person,
    "email" | "addedEmail" | "phoneNumber" | "totpSecret" | "recoveryCodes" | "exchangeToken"
  > {
  usedCodes: string[];
  passkeys: RecordedCredential[];
  securityKey: RecordedCredential[];
  phone: RecordedUafKey[];
}

interface RecordedCredential {
  id: string;
  rpId: string;
  userHandle: string;
  signCount: number;
  discoverable: boolean;
  algorithm: CoseAlgorithm;
  privateKey: JsonWebKey;
}

interface RecordedUafKey {
  id: string;
  appId: string;
  username: string;
  signCounter: number;
  privateKey: JsonWebKey;
}

export const recordWalk = ({ journey, steps, client, person }: Walk): RecordedWalk => ({
  journey: journey.name,
  steps,
  state: client.state,
  cookies: recordCookies(client),
  person: recordPerson(person),
});

export const recordCookies = ({ cookies }: FlowClient): Cookies => Object.fromEntries(cookies);

export const recordPerson = (person: Person): RecordedPerson => ({
  ...person,
  usedCodes: [...person.usedCodes],
  passkeys: recordCredentials(person.passkeys),
  securityKey: recordCredentials(person.securityKey),
  phone: recordUafKeys(person.phone),
});

export const recordCredentials = ({ credentials }: Authenticator): RecordedCredential[] =>
  credentials.map(({ id, userHandle, key, ...rest }) => ({
    ...rest,
    id: id.toString("base64url"),
    userHandle: userHandle.toString("base64url"),
    algorithm: key.algorithm,
    privateKey: jwkOf(key.privateKey),
  }));

export const recordUafKeys = ({ keys }: UafAuthenticator): RecordedUafKey[] =>
  keys.map(({ id, privateKey, ...rest }) => ({
    ...rest,
    id: id.toString("base64url"),
    privateKey: jwkOf(privateKey),
  }));

/** Goes on with a recorded walk at a server. */
export function resumeWalk(recorded: RecordedWalk, server: { url: string }, fixtures: Fixtures): Walk {
  const journey = allJourneys.find(({ name }) => name === recorded.journey);
  if (!journey) throw new Error(`there is no journey "${recorded.journey}" any more`);
  const client = browserOf(recorded, server);
  client.adopt(recorded.state);
  return { journey, steps: recorded.steps, client, person: personOf(recorded.person), fixtures };
}

/** A browser with the recorded cookies. */
export function browserOf({ cookies }: { cookies: Cookies }, server: { url: string }): FlowClient {
  const client = flowClient(server.url);
  for (const [name, value] of Object.entries(cookies)) client.cookies.set(name, value);
  return client;
}

export function personOf({ usedCodes, passkeys, securityKey, phone, ...facts }: RecordedPerson): Person {
  const person: Person = { ...newPerson(), ...facts, usedCodes: new Set(usedCodes) };
  person.passkeys.credentials.push(...passkeys.map(credentialOf));
  person.securityKey.credentials.push(...securityKey.map(credentialOf));
  person.phone = phoneOf(phone);
  return person;
}

export const credentialOf = ({
  id,
  userHandle,
  algorithm,
  privateKey,
  ...rest
}: RecordedCredential): Credential => ({
  ...rest,
  id: Buffer.from(id, "base64url"),
  userHandle: Buffer.from(userHandle, "base64url"),
  key: coseKeyOf(algorithm, keyOf(privateKey)),
});

export const phoneOf = (keys: RecordedUafKey[]): UafAuthenticator =>
  createUafAuthenticator({
    keys: keys.map(({ id, privateKey, ...rest }) => ({
      ...rest,
      id: Buffer.from(id, "base64url"),
      privateKey: keyOf(privateKey),
    })),
  });

const jwkOf = (key: KeyObject) => key.export({ format: "jwk" }) as JsonWebKey;
const keyOf = (jwk: JsonWebKey) => createPrivateKey({ key: jwk as JWK, format: "jwk" });

/** Identity providers that run now. */
type Providers = Pick<Fixtures, "provider" | "samlProvider">;

/** Reads what the users of the recorded database hold, with the addresses of the providers that run now. */
export function readRecording(folder: string, { provider, samlProvider }: Providers): Recording {
  const text = readFileSync(join(folder, "users.json"), "utf8");
  const { issuer, samlOrigin } = JSON.parse(text) as Recording;
  const present = new URL(samlProvider.metadataUrl).origin;
  return JSON.parse(text.replaceAll(issuer, provider.issuer).replaceAll(samlOrigin, present));
}

/**
 * Restores the recorded database into an empty one. All of its times are moved by as much as has passed since it was
 * recorded, so that what was under way then is so now.
 */
export async function restoreRecording(
  databaseUrl: string,
  folder: string,
  { recordedAt }: Recording,
): Promise<void> {
  const dump = readFileSync(join(folder, "database.sql"), "utf8");
  const passedMs = Date.now() - Date.parse(recordedAt);
  await withClient(databaseUrl, (client) => client.query(withMovedTimes(dump, passedMs)));
}

/** As PostgreSQL writes them, and as JSON holds them. */
const times = /(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d(?:\.\d+)?)(\+00|Z)(?=["'])/g;

/** Those of these tables stay: pg-boss makes a partition of statistics for each day. */
const unmoved = /^insert into (?:drizzle\.|pgboss\.queue_stats)/;

function withMovedTimes(dump: string, passedMs: number): string {
  let isMoved = false;
  const lines = dump.split("\n").map((line) => {
    if (line.startsWith("insert into ")) isMoved = !unmoved.test(line);
    if (line.startsWith("select setval(")) isMoved = false;
    if (!isMoved) return line;
    return line.replace(times, (_, date: string, separator: string, time: string, zone: string) => {
      const moved = new Date(Date.parse(`${date}T${time}Z`) + passedMs).toISOString();
      return moved.slice(0, -1).replace("T", separator) + zone;
    });
  });
  return lines.join("\n");
}
