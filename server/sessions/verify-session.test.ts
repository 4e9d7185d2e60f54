import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { schema } from "#db/client";
import { createUser } from "../identity/users.ts";
import { createSigningKeys } from "../keys/signing-keys.ts";
import type { RequestContext } from "../runtime.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { type TestRuntime, testClient, testRuntime } from "../testing/runtime.ts";
import { commitWrites } from "../testing/writes.ts";
import { endSession, issueSession } from "./sessions.ts";
import { type PresentedTokens, verifySession } from "./verify-session.ts";

let userId: string;
let token: string;
let sessionId: string;

const runtime = await runtimeForTests();

beforeEach(async () => {
  userId = await newUser();
  ({ token, id: sessionId } = await signIn());
});

const nowHere = () => new Date(Date.now() + runtime.platform.clockShift());

async function newUser(host: TestRuntime = runtime): Promise<string> {
  const id = randomUUID();
  await host.database.write.transaction((tx) =>
    createUser(tx, host.tenant.id, { id, now: nowHere(), platform: host.platform }),
  );
  return id;
}

async function signIn(host: TestRuntime = runtime, person = userId) {
  const { signal } = new AbortController();
  const context: RequestContext = {
    runtime: host,
    tenant: host.tenant,
    client: testClient,
    now: nowHere(),
    signal,
  };
  const made = await issueSession(context, { userId: person, factors: [], amr: ["otp"], rememberMe: false });
  await host.database.write.transaction(made.write);
  return made.issued;
}

const verify = (tokens: Partial<PresentedTokens>, touch = false, host: TestRuntime = runtime) =>
  verifySession(host, host.tenant, { cookies: [], bound: [], ...tokens }, { touch });

const lastUsed = async () => {
  const [row] = await runtime.database.read
    .select({ at: schema.sessions.lastUsedAt })
    .from(schema.sessions)
    .where(eq(schema.sessions.id, sessionId));
  return row?.at.getTime();
};

describe("verifySession accepts", () => {
  it("a cookie and a bearer token", async () => {
    for (const tokens of [
      { cookies: [token] },
      { bearer: token },
      { bearer: token, cookies: [token], bound: [] },
    ]) {
      expect(await verify(tokens)).toMatchObject({
        ok: true,
        session: { id: sessionId, userId },
        claims: { subject: userId, session_id: sessionId, amr: ["otp"] },
        idleExpiresAt: null,
      });
    }
  });

  it("a session of before the database's clock was set back", async () => {
    const platform = { ...runtime.platform, clockShift: () => runtime.platform.clockShift() - 3_600_000 };
    expect(await verify({ cookies: [token] }, false, { ...runtime, platform })).toMatchObject({ ok: true });
  });

  it("the bearer token first, then the cookie if that token is not valid", async () => {
    const other = await signIn();
    expect(await verify({ bearer: other.token, cookies: [token] })).toMatchObject({
      session: { id: other.id },
    });
    await commitWrites(
      runtime,
      endSession({ runtime, tenant: runtime.tenant }, other.id, "session.delete.explicit.logout"),
    );
    expect(await verify({ bearer: other.token, cookies: [token] })).toMatchObject({
      session: { id: sessionId },
    });
    expect(await verify({ bearer: "stale", cookies: [token] })).toMatchObject({ session: { id: sessionId } });
  });
});

describe("verifySession rejects", () => {
  it("a missing or malformed token", async () => {
    expect(await verify({})).toEqual({ ok: false, reason: "no_session" });
    for (const malformed of ["", "x", "a.b.c", "undefined", `${token}x`, "\0"]) {
      expect(await verify({ bearer: malformed, cookies: [malformed] })).toEqual({
        ok: false,
        reason: "no_session",
      });
    }
  });

  it("the token of an ended session", async () => {
    await commitWrites(
      runtime,
      endSession({ runtime, tenant: runtime.tenant }, sessionId, "session.delete.explicit.logout"),
    );
    expect(await verify({ cookies: [token] })).toEqual({ ok: false, reason: "no_session" });
  });

  it("the token of a deleted account", async () => {
    await runtime.database.write.delete(schema.users).where(eq(schema.users.id, userId));
    expect(await verify({ cookies: [token] })).toEqual({ ok: false, reason: "no_session" });
  });

  it("an expired session, by the database's clock and to the second", async () => {
    const host = await testRuntime({ STILE_SESSION_LIFESPAN: "100s" });
    const issued = await signIn(host, await newUser(host));
    const cookies = [issued.token];
    host.advanceClock(98);
    expect(await verify({ cookies }, false, host)).toMatchObject({ ok: true });
    host.advanceClock(2);
    expect(await verify({ cookies }, false, host)).toEqual({ ok: false, reason: "no_session" });
    await host.close();
  });

  it("A65 a token of another purpose, audience, issuer or user, even signed by our key", async () => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      iss: "http://localhost:3000",
      aud: ["localhost"],
      sub: userId,
      session_id: sessionId,
      iat,
      exp: iat + 600,
    };
    const by = async (changed: object, typ = "JWT") =>
      verify({
        bearer: await runtime.signingKeys.of(runtime.tenant).sign({ ...claims, ...changed }, { typ }),
      });
    expect(await by({})).toMatchObject({ ok: true });
    const wrong = [
      { aud: ["elsewhere"] },
      { iss: "http://elsewhere" },
      { sub: randomUUID() },
      { session_id: randomUUID() },
      { session_id: "' or 1=1 --" },
      { session_id: undefined },
      { session_id: [sessionId] },
      { exp: iat - 61 },
      { exp: undefined },
      { nbf: iat + 120 },
      { amr: "pwd" },
    ];
    for (const changed of wrong) expect(await by(changed)).toEqual({ ok: false, reason: "no_session" });
    for (const typ of ["webhook+jwt", "device+jwt", "handover+jwt"]) {
      expect(await by({}, typ)).toEqual({ ok: false, reason: "no_session" });
    }
  });

  it("A65 a token of another tenant, even with the same keys, audience and issuer", async () => {
    const id = randomUUID();
    await runtime.database.write.insert(schema.tenants).values({ id, name: "another tenant" });
    const tenant = { id, config: runtime.config };
    expect(await verifySession(runtime, tenant, { cookies: [token], bound: [] }, { touch: false })).toEqual({
      ok: false,
      reason: "no_session",
    });
    const { database, vault, platform, log } = runtime;
    // Even with the keys of the tenant that signed.
    const keys = createSigningKeys({
      database,
      vault,
      tenant: runtime.tenant,
      purpose: "session",
      platform,
      log,
    });
    const there = { ...runtime, tenant, signingKeys: { of: () => keys } };
    expect(
      await verifySession(there, tenant, { bearer: token, cookies: [token], bound: [] }, { touch: false }),
    ).toEqual({
      ok: false,
      reason: "no_session",
    });
  });
});

describe("a check of a session", () => {
  it("is one statement, and sees at once that the session of a known token has ended", async () => {
    expect(await verify({ bearer: token })).toMatchObject({ ok: true });
    const { read, write, claim } = runtime.database;
    const queries = [read, write, claim].map(({ $client }) => vi.spyOn($client, "query"));
    const statements = () => queries.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    expect(await verify({ bearer: token })).toMatchObject({ ok: true });
    expect(statements()).toBe(1);
    for (const query of queries) query.mockRestore();
    await commitWrites(
      runtime,
      endSession({ runtime, tenant: runtime.tenant }, sessionId, "session.delete.explicit.logout"),
    );
    expect(await verify({ bearer: token })).toEqual({ ok: false, reason: "no_session" });
  });
});

describe("several cookies", () => {
  it("A39 are rejected in either order if they name two live sessions, and no use is recorded", async () => {
    const planted = await signIn(runtime, await newUser());
    runtime.advanceClock(120);
    const before = await lastUsed();
    expect(await verify({ cookies: [token, planted.token] }, true)).toEqual({
      ok: false,
      reason: "ambiguous_session",
    });
    expect(await verify({ cookies: [planted.token, token] }, true)).toEqual({
      ok: false,
      reason: "ambiguous_session",
    });
    expect(await lastUsed()).toBe(before);
    // Two sessions of the same user cannot be distinguished from that.
    const own = await signIn();
    expect(await verify({ cookies: [token, own.token] })).toEqual({ ok: false, reason: "ambiguous_session" });
  });

  it("A39 do not hide the valid one if they are of other tenants, ended, forged or repeated", async () => {
    const { token: ended, id } = await signIn();
    await commitWrites(
      runtime,
      endSession({ runtime, tenant: runtime.tenant }, id, "session.delete.explicit.logout"),
    );
    const elsewhere = await testRuntime();
    const foreign = await signIn(elsewhere, await newUser(elsewhere));
    const cookies = ["malformed", foreign.token, ended, `${token.slice(0, -4)}AAAA`, token, token];
    expect(await verify({ cookies })).toMatchObject({ ok: true, session: { id: sessionId } });
    expect(await verify({ cookies: cookies.toReversed() })).toMatchObject({ session: { id: sessionId } });
    await elsewhere.close();
  });

  it("A39 are not verified beyond the number that browsers send", async () => {
    const crowd = Array.from({ length: 9 }, (_, index) => `malformed ${index}`);
    const asked = vi.spyOn(runtime.signingKeys.of(runtime.tenant), "verify");
    expect(await verify({ cookies: [...crowd, token] })).toEqual({ ok: false, reason: "no_session" });
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });
});

describe("the use of a session", () => {
  it("is recorded at most once a minute, and only with `touch`", async () => {
    const start = await lastUsed();
    runtime.advanceClock(61);
    await verify({ cookies: [token] }, false);
    expect(await lastUsed()).toBe(start);
    await verify({ cookies: [token] }, true);
    const noted = (await lastUsed()) ?? 0;
    expect(noted - (start ?? 0)).toBeGreaterThanOrEqual(61_000);
    runtime.advanceClock(30);
    await verify({ cookies: [token] }, true);
    expect(await lastUsed()).toBe(noted);
  });

  it("extends the idle timeout, and a look-up without `touch` does not", async () => {
    const idling = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
    for (let time = 0; time < 4; time++) {
      runtime.advanceClock(8 * 60);
      expect(await verify({ cookies: [token] }, true, idling)).toMatchObject({ ok: true });
    }
    const used = (await lastUsed()) ?? 0;
    runtime.advanceClock(5 * 60);
    expect(await verify({ cookies: [token] }, false, idling)).toMatchObject({
      ok: true,
      idleExpiresAt: new Date(used + 600_000),
    });
    runtime.advanceClock(6 * 60);
    expect(await verify({ cookies: [token] }, false, idling)).toEqual({ ok: false, reason: "no_session" });
    expect(await lastUsed()).toBe(used);
  });

  it("ends the session permanently after the idle timeout", async () => {
    const idling = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
    runtime.advanceClock(11 * 60);
    expect(await verify({ cookies: [token] }, true, idling)).toEqual({ ok: false, reason: "no_session" });
    expect(await verify({ cookies: [token] }, true, runtime)).toEqual({ ok: false, reason: "no_session" });
    expect(await lastUsed()).toBeUndefined();
  });

  it("is accepted for fifty concurrent requests", async () => {
    runtime.advanceClock(120);
    const answers = await Promise.all(Array.from({ length: 50 }, () => verify({ cookies: [token] }, true)));
    expect(answers.every((answer) => answer.ok)).toBe(true);
  });
});
