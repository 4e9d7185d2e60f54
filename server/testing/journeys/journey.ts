import { randomInt, randomUUID } from "node:crypto";
import { eventually } from "../eventually.ts";
import { type FlowClient, type FlowType, flowClient, type State } from "../flow-client.ts";
import type { IdentityProvider } from "../kit/identity-provider.ts";
import type { SamlProviderServer } from "../saml-provider-server.ts";
import type { RunningServer } from "../server.ts";
import { createUafAuthenticator, type UafAuthenticator } from "../uaf-authenticator/authenticator.ts";
import { type Authenticator, softwareAuthenticator } from "../webauthn-authenticator.ts";

/** What a journey needs beside a server. Servers that share a database share it. */
export interface Fixtures {
  /** `BASE_URL` of the servers, and so the origin of WebAuthn, UAF and SAML. */
  origin: string;
  /** Runs SQL on the database of the servers. */
  query(text: string, values: unknown[]): Promise<Record<string, unknown>[]>;
  provider: IdentityProvider;
  samlProvider: SamlProviderServer;
  /** API key of an application that registers UAF authenticators. */
  authenticatorKey: string;
}

/** A user on a walk, and what the walk has told so far. */
export interface Person {
  email: string;
  /** An address that the walk adds to the account. Codes are mailed to it from then on. */
  addedEmail?: string;
  /** E.164. */
  phoneNumber: string;
  usedCodes: Set<string>;
  /** Holds the passkeys. */
  passkeys: Authenticator;
  securityKey: Authenticator;
  /** Holds the keys of UAF. */
  phone: UafAuthenticator;
  totpSecret?: string;
  /** Those that the registration has shown, if it did. */
  recoveryCodes?: string[] | undefined;
  /** Of a sign-in that a provider has begun. */
  exchangeToken?: string;
}

/** Where a walk stands. */
export interface Situation {
  state: State;
  person: Person;
  client: FlowClient;
  fixtures: Fixtures;
}

export type Act = (situation: Situation) => Promise<[action: string, input?: Record<string, unknown>]>;

/** What the person does in each state. */
export type Acts = Record<string, Act>;

/** What has to be there before a walk: an account, made on this server. */
export type Prepare = (
  start: Pick<Situation, "person" | "client" | "fixtures"> & { server: RunningServer },
) => Promise<void>;

/** A user's way through a flow, which may stop in each of its states and go on at another server. */
export interface Journey {
  name: string;
  type: FlowType;
  acts: Acts;
  /** Whether the walk has ended. Asked after the second action, so that a profile flow may end where it begins. */
  end: (state: State, person: Person) => boolean;
  prepare?: Prepare;
}

/** A walk that stands in some state. */
export interface Walk extends Omit<Situation, "state"> {
  journey: Journey;
  /** Actions so far. */
  steps: number;
}

/** A longer walk has met a loop. */
const MAX_STEPS = 25;

export const always =
  (action: string, input: Record<string, unknown> = {}): Act =>
  async () => [action, input];

export const atState =
  (name: string): Journey["end"] =>
  (state) =>
    state.name === name;

export const capable = always("register_client_capabilities", { webauthn_available: true });
export const incapable = always("register_client_capabilities", { webauthn_available: false });
export const withCode: Act = async ({ person, fixtures }) => [
  "verify_passcode",
  { code: await mailedCode(person, fixtures) },
];

export const withCodeBySms: Act = async ({ person, fixtures }) => [
  "verify_passcode",
  { code: await codeFor(person.phoneNumber, person, fixtures) },
];

export const newAddress = (domain = "example.com") => `${randomUUID()}@${domain}`;

const newNumber = () => `+491511${String(randomInt(10_000_000)).padStart(7, "0")}`;

export function newPerson(): Person {
  return {
    email: newAddress(),
    phoneNumber: newNumber(),
    usedCodes: new Set(),
    passkeys: softwareAuthenticator(),
    securityKey: softwareAuthenticator({ transports: ["usb"], attachment: "cross-platform", backup: "no" }),
    phone: createUafAuthenticator(),
  };
}

/** The newest code that either version has mailed to a person, and that was not used. */
const mailedCode = (person: Person, fixtures: Fixtures) =>
  codeFor(person.addedEmail ?? person.email, person, fixtures);

/** The newest code that was sent to an address or a number, and that was not used. */
async function codeFor(
  recipient: string,
  { usedCodes }: Pick<Person, "usedCodes">,
  { query }: Fixtures,
): Promise<string> {
  const code = await eventually(async () => {
    const newest = "select text from mailbox where recipient = $1 order by created_at desc limit 1";
    const [mail] = await query(newest, [recipient]);
    const [found] = /\b\d{6}\b/.exec(String(mail?.text ?? "")) ?? [];
    if (!found || usedCodes.has(found)) throw new Error(`no code was sent to ${recipient}`);
    return found;
  });
  usedCodes.add(code);
  return code;
}

/** Passes over the codes that a person was sent before: those of other flows verify nothing in the next one. */
export async function passOverCodes(
  { email, phoneNumber, usedCodes }: Pick<Person, "email" | "phoneNumber" | "usedCodes">,
  { query }: Fixtures,
): Promise<void> {
  const messages = await query("select text from mailbox where recipient in ($1, $2)", [email, phoneNumber]);
  for (const { text } of messages)
    for (const [code] of String(text).matchAll(/\b\d{6}\b/g)) usedCodes.add(code);
}

/**
 * Moves the ends of what expires within minutes by an hour, because a walk waits for all others to be stopped: on a slow
 * machine that takes longer.
 */
export async function keepWaiting({ query }: Pick<Fixtures, "query">): Promise<void> {
  for (const [table, column] of [
    ["authenticator_requests", "valid_until"],
    ["exchange_tokens", "expires_at"],
    ["handover_codes", "expires_at"],
    ["passcodes", "expires_at"],
    ["passkey_challenges", "expires_at"],
    ["third_party_requests", "expires_at"],
    ["transaction_confirmations", "expires_at"],
    ["webauthn_challenges", "expires_at"],
  ])
    await query(`update ${table} set ${column} = ${column} + interval '1 hour' where ${column} > now()`, []);
}

/** Performs the next action. Throws if the journey does not know the state, or the server rejects the action. */
export async function step({ journey, client, person, fixtures, steps }: Walk): Promise<void> {
  const { state } = client;
  const act = journey.acts[state.name];
  if (!act) throw new Error(`${journey.name} does not know ${state.name}`);
  if (steps > MAX_STEPS) throw new Error(`${journey.name} does not end`);
  const [action, input] = await act({ state, person, client, fixtures });
  await client.act(action, input ?? {});
  const { error } = client.state;
  if (error) throw new Error(`${journey.name}: ${state.name} refuses ${action}: ${error.code}`);
}

export const hasEnded = ({ journey, client, person, steps }: Walk) =>
  steps > 1 && journey.end(client.state, person);

/** Walks to the end of the journey. */
export async function finish(walk: Walk): Promise<void> {
  for (; !hasEnded(walk); walk.steps++) await step(walk);
}

/** Walks a journey from its beginning to its end, without its preparation. */
export async function complete(journey: Journey, on: Omit<Walk, "journey" | "steps">): Promise<void> {
  await on.client.start(journey.type);
  await finish({ ...on, journey, steps: 0 });
}

/** Begins a walk on a server, and stops before its end after a number of actions; null if it has fewer. */
export async function begin(
  journey: Journey,
  server: RunningServer,
  fixtures: Fixtures,
  actions: number,
): Promise<Walk | null> {
  const walk: Walk = { journey, client: flowClient(server.url), person: newPerson(), fixtures, steps: 0 };
  await journey.prepare?.({ ...walk, server });
  await walk.client.start(journey.type);
  for (; walk.steps < actions; walk.steps++) {
    await step(walk);
    if (hasEnded({ ...walk, steps: walk.steps + 1 })) return null;
  }
  return walk;
}

/** Begins every journey once for each state that it passes, and stops there. */
export async function beginAll(
  journeys: readonly Journey[],
  server: RunningServer,
  fixtures: Fixtures,
): Promise<Walk[]> {
  const walks: Walk[] = [];
  for (const journey of journeys) {
    for (let actions = 0; ; actions++) {
      const walk = await begin(journey, server, fixtures, actions);
      if (!walk) break;
      walks.push(walk);
    }
  }
  return walks;
}

/** The walk goes on at another server, with its cookies. */
export function moved(walk: Walk, server: RunningServer): Walk {
  const client = flowClient(server.url);
  client.adopt(walk.client.state);
  for (const [name, value] of walk.client.cookies) client.cookies.set(name, value);
  return { ...walk, client };
}

export const describeWalk = ({ journey, client }: Walk) => `${journey.name}, from ${client.state.name}`;
