import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PasskeyApplication } from "../../testing/passkey-application.ts";
import { errorBody, passkeySuite } from "../../testing/passkey-suite.ts";
import {
  type CreateCall,
  type GetCall,
  softwareAuthenticator,
} from "../../testing/webauthn-authenticator.ts";

/** What holds of every ceremony of the passkey server, whatever it is for. */

const { runtime, application, auditLogs, newTenant } = await passkeySuite();

/** A ceremony that has begun. */
interface Begun {
  userId: string;
  /** Returns the browser's answer to the options, right unless the call says otherwise. */
  answer(call?: Partial<CreateCall & GetCall>): unknown;
}

interface Ceremony {
  name: string;
  begin(by: PasskeyApplication): Promise<Begun>;
  /** Path of `finalize`; it is called with a key. */
  finalize: string;
  /** Kind of the answer. */
  kind: "attestation" | "assertion";
  /** Title of the error of an answer that is malformed. */
  malformed: string;
}

const registration = (name: string, base: string): Ceremony => ({
  name,
  async begin(by) {
    const userId = randomUUID();
    const { body } = await by.post(`${base}/initialize`, { user_id: userId, username: "ada" });
    return {
      userId,
      answer: (call) => softwareAuthenticator().create(body, { origin: by.origin, ...call }),
    };
  },
  finalize: `${base}/finalize`,
  kind: "attestation",
  malformed: "unable to parse credential creation response",
});

const assertion = (
  name: string,
  base: string,
  request: (userId: string) => object,
  malformed = "unable to finish login",
): Ceremony => ({
  name,
  async begin(by) {
    const { userId, authenticator } = await by.registerUser();
    const { body } = await by.post(`${base}/initialize`, request(userId));
    return { userId, answer: (call) => authenticator.get(body, { origin: by.origin, ...call }) };
  },
  finalize: `${base}/finalize`,
  kind: "assertion",
  malformed,
});

const login = assertion("a login", "/login", () => ({}));
const transaction = assertion(
  "a transaction",
  "/transaction",
  (user_id) => ({ user_id, transaction_id: randomUUID(), transaction_data: { amount: "149.90" } }),
  "unable to finish transaction",
);

const ceremonies: Ceremony[] = [
  registration("a registration", "/registration"),
  registration("a registration of a second factor", "/mfa/registration"),
  login,
  assertion("a login of a named user", "/login", (user_id) => ({ user_id })),
  assertion("a login by a second factor", "/mfa/login", (user_id) => ({ user_id })),
  transaction,
];

const finalize = ({ finalize: path }: Ceremony, answer: unknown, by = application) => by.post(path, answer);

/** The error of an answer that is not accepted. */
const rejected = ({ kind }: Ceremony, details?: string) =>
  kind === "attestation"
    ? errorBody(400, "failed to validate attestation", details)
    : errorBody(401, "failed to validate assertion", details);

const noSuchChallenge = "received challenge does not match with any stored one";

/** The error of an answer to a challenge that is not there. */
const unknownChallenge = ({ kind }: Ceremony) =>
  kind === "attestation"
    ? errorBody(400, noSuchChallenge)
    : errorBody(401, "failed to get session data", noSuchChallenge);

const lastAuditType = async (userId: string) => (await auditLogs("actor_user_id", userId)).at(-1)?.type;

describe.each(ceremonies.map((ceremony) => [ceremony.name, ceremony] as const))("%s", (_, ceremony) => {
  test("accepts one of ten concurrent answers", async () => {
    const answer = (await ceremony.begin(application)).answer();
    const answers = await Promise.all(Array.from({ length: 10 }, () => finalize(ceremony, answer)));
    const { status } = unknownChallenge(ceremony);
    expect(answers.map((one) => one.status).sort()).toEqual([200, ...Array(9).fill(status)]);
  });

  test("rejects an answer to an expired challenge, and accepts one in time", async () => {
    const late = await ceremony.begin(application);
    runtime.advanceClock(301);
    const { body } = await finalize(ceremony, late.answer());
    expect(body).toEqual(rejected(ceremony, "the challenge has expired"));
    const inTime = await ceremony.begin(application);
    runtime.advanceClock(299);
    expect((await finalize(ceremony, inTime.answer())).status).toBe(200);
  });

  test("rejects a challenge that was not issued", async () => {
    const { answer } = await ceremony.begin(application);
    const made = answer({ challenge: randomBytes(32).toString("base64url") });
    expect((await finalize(ceremony, made)).body).toEqual(unknownChallenge(ceremony));
  });

  test("does not accept the answer to another ceremony, and does not use up its challenge", async () => {
    const others = ceremonies.filter(
      ({ kind, finalize: path }) => kind === ceremony.kind && path !== ceremony.finalize,
    );
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) {
      const answer = (await other.begin(application)).answer();
      const { body } = await finalize(ceremony, answer);
      expect([other.name, body]).toEqual([other.name, unknownChallenge(ceremony)]);
      expect((await finalize(other, answer)).status).toBe(200);
    }
  });

  test("A68 rejects an answer for another tenant, and does not use up its challenge", async () => {
    const answer = (await ceremony.begin(application)).answer();
    const { body } = await finalize(ceremony, answer, await newTenant());
    expect(body).toEqual(unknownChallenge(ceremony));
    expect((await finalize(ceremony, answer)).status).toBe(200);
  });

  test("names the setting if the origin is not one of the relying party", async () => {
    const { answer } = await ceremony.begin(application);
    const { body } = await finalize(ceremony, answer({ origin: "https://shop.example" }));
    expect(body.details).toContain("passkey_server.relying_party.origins");
  });

  const wellFormed = { id: "AAAA", rawId: "AAAA", type: "public-key" };
  const response = { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" };
  test.each<[string, unknown, string]>([
    ["no body", undefined, "id is missing"],
    ["an empty object", {}, "id is missing"],
    ["invalid JSON", "{", "the body must be a JSON object"],
    ["an array", "[]", "the body must be a JSON object"],
    ["A91 a duplicate member", '{"id":"AAAA","response":{},"id":"BBBB"}', "the member id occurs twice"],
    [
      "A91 a number out of range",
      '{"id":"AAAA","response":{"n":1e999}}',
      "the number at response.n is out of range",
    ],
    ["A93 a number as id", { ...wellFormed, id: 1, response }, "id must be a string"],
    ["another type", { ...wellFormed, type: "password", response }, "type must be public-key"],
    ["no client data", { ...wellFormed, response: {} }, "response.clientDataJSON is missing"],
  ])("rejects %s with the name of the member", async (_, body, details) => {
    expect((await finalize(ceremony, body)).body).toEqual(errorBody(400, ceremony.malformed, details));
  });
});

describe.each([
  ["a login", login, "webauthn_authentication_final_failed"],
  ["a transaction", transaction, "webauthn_transaction_final_failed"],
] as const)("%s", (_, ceremony, auditType) => {
  test.each<[string, Partial<GetCall>]>([
    ["V4 another ceremony", { type: "webauthn.create" }],
    ["V6 another origin", { origin: "https://evil.example" }],
    ["V7 a cross-origin frame", { crossOrigin: true }],
    ["V8 a top origin", { topOrigin: "https://evil.example" }],
    ["V9 another relying party", { rpId: "evil.example" }],
    ["V10 an absent user", { userPresent: false }],
    ["V11 an unverified user", { userVerified: false }],
    ["V12 a backup state without eligibility", { backupEligible: false, backedUp: true }],
    ["V13 a changed backup eligibility", { backupEligible: false, backedUp: false }],
    ["V14 a broken signature", { brokenSignature: true }],
  ])("A69 rejects %s, uses up the challenge and confirms nothing", async (_, call) => {
    const { userId, answer } = await ceremony.begin(application);
    expect((await finalize(ceremony, answer(call))).body).toEqual(rejected(ceremony));
    expect((await finalize(ceremony, answer())).body).toEqual(unknownChallenge(ceremony));
    expect(await lastAuditType(userId)).toBe(auditType);
    const { body: transactions } = await application.get(`/transaction/${userId}`);
    expect(transactions.filter((one: object) => "confirmed_at" in one)).toEqual([]);
  });
});
