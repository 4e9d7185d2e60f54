import { createCipheriv, createHash, randomBytes, randomInt, randomUUID } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { deliver } from "./deliveries.ts";
import { sendCode } from "./mails.ts";
import {
  type Assertion,
  challengeOf,
  codeHash,
  equal,
  isValidAssertion,
  sha256,
  signJwt,
  totpStep,
} from "./proofs.ts";
import type { Bare } from "./settings.ts";
import { claims, others, saves } from "./statements.ts";

/** The flows of the hand-made server: those of Stile, step by step, for the states that the benchmark passes. */

/** Its answer: a state, and a cookie if the flow signed in or went to the provider. */
export interface Shown {
  body: object;
  cookie?: string;
}

interface FlowRow {
  type: string;
  data: { address?: string; provenAt?: string; second?: boolean; passwordHash?: string };
  history: unknown[];
  user_id: string | null;
  email: string | null;
  has_totp: boolean | null;
}

/** What a step writes, and what it shows. */
interface Written {
  state: string;
  save: keyof typeof saves;
  /** Parameters of the save's own parts. */
  values?: unknown[];
  data?: FlowRow["data"];
  payload?: object;
  userId?: string | null;
  cookie?: string;
  /** What follows the commit. */
  afterwards?: () => void;
  /** Ends the flow in a session. */
  ends?: { method: string };
}

type Row = FlowRow & Record<string, unknown>;
type Input = Record<string, string>;

/** Who sends a request. */
interface Sender {
  source: string;
  userAgent: string;
}

/** The actions: what each reads with the claim, and what it decides. */
const actions: Record<
  string,
  {
    claim: keyof typeof claims;
    values?(input: Input & { assertion_response?: Assertion }): unknown[];
    judge(bare: Bare, row: Row, input: never, flowId: string, sender: Sender): Written | Promise<Written>;
  }
> = {
  register_client_capabilities: {
    claim: "nothing",
    judge(bare, { type }, input: Record<string, unknown>) {
      const state = type === "registration" ? "registration_init" : "login_init";
      if (!input.webauthn_conditional_mediation_available) return { state, save: "nothing" };
      const challenge = randomBytes(32).toString("base64url");
      const publicKey = { challenge, rpId: new URL(bare.origin).hostname, userVerification: "preferred" };
      return {
        state,
        save: "challenge",
        values: [randomUUID(), challenge],
        payload: { request_options: { publicKey } },
      };
    },
  },
  remember_me: { claim: "nothing", judge: () => ({ state: "login_init", save: "nothing" }) },
  continue_with_login_identifier: {
    claim: "address",
    values: ({ email }) => [email],
    judge: (_, { user_id, address }) => ({
      state: "login_method_chooser",
      save: "nothing",
      userId: user_id,
      data: { address: String(address) },
    }),
  },
  continue_to_password_login: {
    claim: "nothing",
    judge: (_, { user_id, data }) => ({ state: "login_password", save: "nothing", userId: user_id, data }),
  },
  continue_to_passcode_confirmation: { claim: "nothing", judge: mailCode },
  register_login_identifier: {
    claim: "address",
    values: ({ email }) => [email],
    judge: (bare, row, { email = "" }: Input, flowId) =>
      mailCode(bare, { ...row, data: { address: email } }, {} as never, flowId),
  },
  password_login: {
    claim: "password",
    async judge(_, { user_id, hash: stored, has_totp, data }, { password = "" }: Input, __, { source }) {
      must(await verify(String(stored), password));
      return has_totp
        ? { state: "login_otp", save: "firstFactor", values: [source], userId: user_id, data }
        : end({ save: "endByPassword", userId: user_id, method: "pwd", values: [source] });
    },
  },
  otp_code_validate: {
    claim: "totp",
    judge({ totp }, { user_id, last_step, data }, { otp_code = "" }: Input, _, { source }) {
      const step = totpStep(totp, otp_code);
      must(step !== null && step > Number(last_step));
      return { state: "device_trust", save: "secondFactor", values: [source, step], userId: user_id, data };
    },
  },
  skip: { claim: "nothing", judge: (_, { user_id }) => end({ save: "end", userId: user_id, method: "otp" }) },
  verify_passcode: {
    claim: "passcode",
    judge(_, { type, user_id, data, code_hash }, { code = "" }: Input, flowId) {
      must(equal(codeHash(flowId, code), code_hash as Buffer | null));
      return type === "registration"
        ? { state: "password_creation", save: "codeTaken", data }
        : end({ save: "endByCode", userId: user_id, method: "otp" });
    },
  },
  register_password: {
    claim: "nothing",
    async judge({ hash: cost }, { data }, { new_password = "" }: Input) {
      const made = await hash(new_password, {
        memoryCost: cost.memory,
        timeCost: cost.passes,
        parallelism: 1,
      });
      return end({
        save: "endByRegistration",
        userId: randomUUID(),
        method: "pwd",
        values: [data.address, made],
      });
    },
  },
  webauthn_verify_assertion_response: {
    claim: "passkey",
    values: ({ assertion_response: given }) => (given ? [challengeOf(given), given.id] : []),
    judge({ origin }, row, { assertion_response: given }: { assertion_response: Assertion }) {
      const { public_key, challenge, user_handle, user_id } = row;
      must(given.response.userHandle === (user_handle as Buffer | null)?.toString("base64url"));
      const expected = { challenge: String(challenge), origin, publicKey: public_key as Buffer };
      must(isValidAssertion(given, expected));
      return end({ save: "endByPasskey", userId: user_id, method: "hwk", values: [given.id] });
    },
  },
  thirdparty_oauth: {
    claim: "nothing",
    judge({ provider, origin }) {
      const [state, nonce, verifier] = [secret(), secret(), secret()];
      const address = new URL(`${provider}/authorize`);
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const asked = {
        response_type: "code",
        client_id: "bench",
        scope: "openid email profile",
        state,
        nonce,
      };
      for (const [name, value] of Object.entries({ ...asked, code_challenge: challenge }))
        address.searchParams.set(name, value);
      return {
        state: "thirdparty",
        save: "provider",
        values: [sha256(state), seal(JSON.stringify({ nonce, verifier })), origin],
        payload: { redirect_url: address.href },
        cookie: `state=${state}; HttpOnly`,
      };
    },
  },
  exchange_token: {
    claim: "exchange",
    values: ({ token = "" }) => [sha256(token)],
    judge(_, { user_id, sealed }) {
      must(Boolean(sealed));
      return end({ save: "end", userId: user_id, method: "fed" });
    },
  },
};

/** Random text of 256 bits. */
export const secret = () => randomBytes(32).toString("base64url");

const sealingKey = randomBytes(32);

/** Encrypts by AES-256-GCM. */
export function seal(text: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", sealingKey, nonce);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

const instance = randomUUID();

function mailCode(bare: Bare, { user_id, data }: Row, _: never, flowId: string): Written {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const mail = { to: data.address ?? "", code };
  return {
    state: "passcode_confirmation",
    save: "code",
    values: [codeHash(flowId, code), JSON.stringify(mail)],
    userId: user_id,
    data,
    afterwards: () => void sendCode(bare, flowId, mail),
  };
}

const end = ({
  method,
  ...written
}: Pick<Written, "save" | "userId" | "values"> & { method: string }): Written => ({
  ...written,
  state: "success",
  ends: { method },
});

/** Starts a flow. */
export async function startFlow(bare: Bare, type: string): Promise<Shown> {
  const [id, token, resume] = [randomUUID(), randomBytes(24).toString("base64url"), secret()];
  const values = [bare.tenantId, id, type, sha256(token), sha256(resume), "{}"];
  await bare.query("start", others.start, values);
  return { body: shown(id, type, "preflight", token, {}) };
}

/** Performs one step: claims, judges, writes. */
export async function stepFlow(
  bare: Bare,
  { type, action, flowId }: { type: string; action: string; flowId: string },
  { csrf_token, input_data }: { csrf_token: string; input_data: never },
  sender: Sender,
): Promise<Shown> {
  const { claim: reading, values: read, judge } = actions[action] ?? {};
  if (!reading || !judge) throw new Error(`no action ${action}`);
  const [claim, old, token] = [randomUUID(), sha256(csrf_token), randomBytes(24).toString("base64url")];
  const key = [claim, instance, bare.tenantId, flowId, old, sender.source, ...(read?.(input_data) ?? [])];
  const [row] = await bare.query<Row>(`claim_${reading}`, claims[reading], key, "claim");
  must(row !== undefined);
  const written = await judge(bare, row, input_data, flowId, sender);
  const { state, save, data = {}, payload = {}, userId = null, cookie, ends } = written;

  const sessionId = ends ? randomUUID() : null;
  const eventId = randomUUID();
  const [issuedAt, factors] = [Math.floor(Date.now() / 1000), [{ method: ends?.method, at: new Date() }]];
  const claimsOfSession = {
    subject: userId,
    session_id: sessionId,
    issued_at: issuedAt,
    expiration: issuedAt + 43_200,
    amr: [ends?.method],
  };
  const history = JSON.stringify([...row.history, { state }]);
  const about = ends
    ? { ...payload, claims: claimsOfSession, user: { user_id: userId, email: row.email } }
    : payload;
  const content = [
    state,
    sha256(token),
    JSON.stringify(data),
    history,
    JSON.stringify(about),
    userId,
    sessionId,
  ];
  const event = {
    user_id: userId,
    email: row.email,
    ip_address: sender.source,
    user_agent: sender.userAgent,
  };
  const recorded = ends
    ? [
        JSON.stringify(factors),
        [ends.method],
        sender.source,
        sender.userAgent,
        claim,
        eventId,
        JSON.stringify(event),
      ]
    : [];
  const [saved] = await bare.query<{ deliveries?: { id: string; callback: string }[] | null }>(
    `save_${save}`,
    saves[save],
    [...content, bare.tenantId, flowId, claim, old, ...recorded, ...(written.values ?? [])],
  );
  must(saved !== undefined);
  written.afterwards?.();
  if (saved.deliveries)
    void deliver(bare, saved.deliveries, { id: eventId, name: "user.login", data: event });
  const body = shown(flowId, type, state, token, about);
  if (!ends) return cookie ? { body, cookie } : { body };
  const { session_id, amr } = claimsOfSession;
  const times = { iat: issuedAt, exp: issuedAt + 43_200 };
  return { body, cookie: `service=${signJwt(bare, { sub: userId, session_id, amr, ...times })}; HttpOnly` };
}

/** The actions of a state, as addresses. All of them are offered: who drives the server knows what comes next. */
function shown(id: string, type: string, name: string, csrf_token: string, payload: object): object {
  const offered = offers[name] ?? [];
  return {
    name,
    status: 200,
    payload,
    csrf_token,
    actions: Object.fromEntries(
      offered.map((action) => [
        action,
        { action, href: `/${type}?action=${action}%40${id}`, description: "Go on.", inputs: {} },
      ]),
    ),
    links: null,
  };
}

const offers: Record<string, string[]> = {
  preflight: ["register_client_capabilities"],
  login_init: [
    "continue_with_login_identifier",
    "webauthn_verify_assertion_response",
    "thirdparty_oauth",
    "remember_me",
  ],
  login_method_chooser: ["continue_to_password_login", "continue_to_passcode_confirmation"],
  login_password: ["password_login"],
  login_otp: ["otp_code_validate"],
  device_trust: ["skip"],
  passcode_confirmation: ["verify_passcode"],
  registration_init: ["register_login_identifier"],
  password_creation: ["register_password"],
  thirdparty: ["exchange_token"],
};

/** @throws Error, which is answered with 500: nothing that the benchmark sends is rejected */
export function must(holds: boolean): asserts holds {
  if (!holds) throw new Error("rejected");
}
