import { createHash, randomBytes, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { createUser } from "../identity/users.ts";
import { codeChallengePattern, codeVerifierPattern } from "../lib/pkce.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { testClient } from "../testing/runtime.ts";
import { commitWrites } from "../testing/writes.ts";
import { issueAuthorizationCode, redeemAuthorizationCode } from "./authorization-codes.ts";
import { endSession, issueSession } from "./sessions.ts";

let sessionId: string;

const runtime = await runtimeForTests();

beforeEach(async () => {
  const { tenant, platform, database } = runtime;
  const now = new Date(Date.now() + platform.clockShift());
  const userId = randomUUID();
  const { signal } = new AbortController();
  const made = await issueSession(
    { runtime, tenant, client: testClient, now, signal },
    { userId, factors: [], amr: [], rememberMe: false },
  );
  await database.write.transaction(async (tx) => {
    await createUser(tx, tenant.id, { id: userId, now, platform });
    await made.write(tx);
  });
  sessionId = made.issued.id;
});

const redirectTo = "https://app.example/signed-in";

// RFC 7636, appendix B
const codeVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const codeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const create = async (challenge = codeChallenge) => {
  const code = await issueAuthorizationCode(runtime, runtime.tenant, {
    sessionId,
    codeChallenge: challenge,
    redirectTo,
  });
  return code ?? "";
};
const storedCodes = async () => {
  const all = await runtime.database.read.select().from(schema.authorizationCodes);
  return all.filter((row) => row.sessionId === sessionId);
};
const redeem = (code: string, verifier = codeVerifier) =>
  redeemAuthorizationCode(runtime, runtime.tenant, { code, codeVerifier: verifier });

describe("an authorization code", () => {
  it("returns the session to the holder of its verifier, once", async () => {
    const code = await create();
    expect(code).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await redeem(code)).toMatchObject({ session: { id: sessionId }, redirectTo });
    expect(await redeem(code)).toBeNull();
  });

  it("is redeemed by one of fifty concurrent requests", async () => {
    const code = await create();
    const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(code)));
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
  });

  it("is consumed by a wrong verifier", async () => {
    const code = await create();
    expect(await redeem(code, randomBytes(32).toString("base64url"))).toBeNull();
    expect(await redeem(code)).toBeNull();
  });

  it("A47 supports S256 only: rejects a verifier that equals the challenge or is malformed", async () => {
    const plain = "a".repeat(43);
    expect(await redeem(await create(plain), plain)).toBeNull();
    const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url");
    for (const verifier of [
      "",
      "a".repeat(42),
      "a".repeat(129),
      `${"a".repeat(42)} `,
      `${"a".repeat(42)}é`,
    ]) {
      expect(await redeem(await create(sha256(verifier)), verifier)).toBeNull();
      expect(verifier).not.toMatch(codeVerifierPattern);
    }
    expect(sha256(codeVerifier)).toMatch(codeChallengePattern);
    expect("plain").not.toMatch(codeChallengePattern);
  });

  it("expires after sixty seconds by the database's clock", async () => {
    const early = await create();
    runtime.advanceClock(58);
    expect(await redeem(early)).not.toBeNull();
    const late = await create();
    runtime.advanceClock(60);
    expect(await redeem(late)).toBeNull();
  });

  it("is rejected after the session has ended, and none is issued from then on", async () => {
    const code = await create();
    await commitWrites(
      runtime,
      endSession({ runtime, tenant: runtime.tenant }, sessionId, "session.delete.explicit.logout"),
    );
    expect(await redeem(code)).toBeNull();
    const request = { sessionId, codeChallenge, redirectTo };
    expect(await issueAuthorizationCode(runtime, runtime.tenant, request)).toBeNull();
    expect(await storedCodes()).toEqual([]);
  });

  it("A68 is unknown to another tenant, which does not consume it", async () => {
    const tenant = { id: randomUUID(), config: runtime.config };
    const code = await create();
    expect(await redeemAuthorizationCode(runtime, tenant, { code, codeVerifier })).toBeNull();
    expect(
      await issueAuthorizationCode(runtime, tenant, { sessionId, codeChallenge, redirectTo }),
    ).toBeNull();
    expect(await redeem(code)).not.toBeNull();
  });

  it("is stored as a hash only", async () => {
    const code = await create();
    const [row] = await storedCodes();
    expect(row?.codeHash).toEqual(createHash("sha256").update(code).digest());
    expect(JSON.stringify(row)).not.toContain(code);
  });

  it("is not found by malformed input", async () => {
    for (const malformed of ["", "x", "\0", "' or 1=1 --", "💥".repeat(1000)])
      expect(await redeem(malformed)).toBeNull();
  });
});
