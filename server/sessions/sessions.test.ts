import { randomUUID } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Factor } from "#db/schema/sessions";
import type { Write } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { createUser } from "../identity/users.ts";
import type { Session } from "../objects/session.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { testClient } from "../testing/runtime.ts";
import { commitWrites } from "../testing/writes.ts";
import {
  endOtherSessions,
  endSession,
  findSession,
  issueSession,
  type NewSession,
  reissueSession,
  replaceSession,
} from "./sessions.ts";

const runtime = await runtimeForTests({ STILE_SESSION_LIMIT: "5" });

const noon = new Date("2030-01-01T12:00:00.250Z");

const scopeAt = (now = noon, { tenant }: { tenant: Tenant } = runtime) =>
  requestContext(runtime, { now, tenant });

async function newUser(tenantId = runtime.tenant.id): Promise<string> {
  const id = randomUUID();
  await runtime.database.write.transaction((tx) =>
    createUser(tx, tenantId, { id, now: noon, platform: runtime.platform }),
  );
  return id;
}

const password: Factor[] = [{ method: "password", at: noon.toISOString() }];

const newSession = (userId: string): NewSession => ({
  userId,
  factors: password,
  amr: ["pwd"],
  rememberMe: false,
});

async function issue(userId: string, now = noon, context = scopeAt(now)) {
  const made = await issueSession(context, newSession(userId));
  await runtime.database.write.transaction(made.write);
  return made;
}

async function sessionIds(userId: string): Promise<string[]> {
  const all = await runtime.database.read.select().from(schema.sessions);
  return all.filter((row) => row.userId === userId).map((row) => row.id);
}

describe("a new session", () => {
  it("has a row of its own, and a token and claims that name it", async () => {
    const userId = await newUser();
    const { issued, claims } = await issue(userId);
    const found = await findSession(runtime, runtime.tenant, issued.id);
    expect(found?.session).toEqual({
      id: issued.id,
      userId,
      impersonation: null,
      rememberMe: false,
      authenticatedAt: noon,
      factors: password,
      amr: ["pwd"],
      ipAddress: testClient.ip,
      userAgent: testClient.userAgent,
      createdAt: noon,
      lastUsedAt: noon,
      expiresAt: new Date("2030-01-02T00:00:00.000Z"),
      boundKey: null,
      boundAt: null,
      boundHash: null,
      boundUntil: null,
      previousBoundHash: null,
      previousBoundUntil: null,
      boundChallengeAt: null,
      bindingRejectedAt: null,
    });
    const times = { iat: Date.parse("2030-01-01T12:00:00Z") / 1000, exp: issued.expiresAt.getTime() / 1000 };
    expect(decodeProtectedHeader(issued.token)).toMatchObject({ typ: "JWT", alg: "ES256" });
    expect(decodeJwt(issued.token)).toEqual({
      iss: "http://localhost:3000",
      aud: ["localhost"],
      sub: userId,
      session_id: issued.id,
      amr: ["pwd"],
      ...times,
    });
    expect(claims).toEqual({
      subject: userId,
      session_id: issued.id,
      expiration: "2030-01-02T00:00:00.000Z",
      issued_at: "2030-01-01T12:00:00.000Z",
      audience: ["localhost"],
      issuer: "http://localhost:3000",
      amr: ["pwd"],
    });
  });

  it("has the user's profile in the client's claims, not in the token", async () => {
    const userId = await newUser();
    const person = { email: "ada@example.com", emailVerified: true, username: "ada" };
    const { claims, issued } = await issueSession(scopeAt(), { ...newSession(userId), ...person });
    expect(claims).toMatchObject({
      email: { address: "ada@example.com", is_primary: true, is_verified: true },
      username: "ada",
    });
    expect(Object.keys(decodeJwt(issued.token)).sort()).toEqual([
      "amr",
      "aud",
      "exp",
      "iat",
      "iss",
      "session_id",
      "sub",
    ]);
  });

  it("A40 has the configured retention, or the user's choice if configured", async () => {
    const userId = await newUser();
    const cases = [
      ["persistent", false, "persistent"],
      ["persistent", true, "persistent"],
      ["session", true, "session"],
      ["prompt", false, "session"],
      ["prompt", true, "persistent"],
    ] as const;
    for (const [setting, rememberMe, retention] of cases) {
      const configured = runtime.configured({ STILE_SESSION_COOKIE_RETENTION: setting });
      const { issued } = await issueSession(scopeAt(noon, configured), { ...newSession(userId), rememberMe });
      expect(issued.retention).toBe(retention);
      expect(issued.lifetimeSeconds).toBe(12 * 3600);
    }
  });

  it("omits methods if there were none, and stores address and browser only if configured", async () => {
    const userId = await newUser();
    const configured = runtime.configured({
      STILE_SESSION_ACQUIRE_IP_ADDRESS: "false",
      STILE_SESSION_ACQUIRE_USER_AGENT: "false",
      STILE_SESSION_ISSUER: "https://id.example",
      STILE_SESSION_AUDIENCE: "app.example,api.example",
    });
    const made = await issueSession(scopeAt(noon, configured), {
      ...newSession(userId),
      factors: [],
      amr: [],
    });
    await runtime.database.write.transaction(made.write);
    const found = await findSession(runtime, runtime.tenant, made.issued.id);
    expect(found?.session).toMatchObject({ ipAddress: null, userAgent: null, authenticatedAt: noon });
    expect(decodeJwt(made.issued.token)).toMatchObject({
      iss: "https://id.example",
      aud: ["app.example", "api.example"],
    });
    expect(decodeJwt(made.issued.token)).not.toHaveProperty("amr");
    expect(made.claims).not.toHaveProperty("amr");
  });

  it("is not written for a deleted account", async () => {
    const made = await issueSession(scopeAt(), newSession(randomUUID()));
    await expect(runtime.database.write.transaction(made.write)).rejects.toThrow("conflict: user");
  });
});

describe("A130 a session in place of another", () => {
  const replacement = (session: Session) => {
    const { factors, amr } = newSession(session.userId);
    return replaceSession(scopeAt(), session, { factors, amr });
  };
  const commit = (write: Write) => runtime.database.write.transaction(write);

  it("ends the other in the transaction that stores it", async () => {
    const userId = await newUser();
    const { session } = await issue(userId);
    const replaced = await replacement(session);
    await expect(
      commit(async (tx) => {
        await replaced.write(tx);
        throw new Error("the step failed");
      }),
    ).rejects.toThrow("the step failed");
    expect(await sessionIds(userId)).toEqual([session.id]);
    await commit(replaced.write);
    expect(await sessionIds(userId)).toEqual([replaced.session.id]);
    expect(replaced.issued.id).toBe(replaced.session.id);
  });

  it("is issued once, however many reauthenticate in the other at the same time", async () => {
    const userId = await newUser();
    const { session } = await issue(userId);
    const made = await Promise.all([1, 2, 3, 4].map(() => replacement(session)));
    const written = await Promise.allSettled(made.map(({ write }) => commit(write)));
    const failed = written.filter(({ status }) => status === "rejected");
    expect(failed).toEqual(Array(3).fill({ status: "rejected", reason: new ConflictError("session") }));
    const winner = made[written.findIndex(({ status }) => status === "fulfilled")];
    expect(await sessionIds(userId)).toEqual([winner?.session.id]);
  });

  it("takes the place of the other within the limit, so no further session ends", async () => {
    const userId = await newUser();
    const made = [];
    for (let n = 0; n < 5; n++) made.push(await issue(userId, new Date(noon.getTime() - 5_000 + n * 1_000)));
    const [first, ...others] = made.map(({ session }) => session);
    if (!first) throw new Error("no session was issued");
    const replaced = await replacement(first);
    await commit(replaced.write);
    const left = [...others, replaced.session].map(({ id }) => id);
    expect((await sessionIds(userId)).toSorted()).toEqual(left.toSorted());
  });
});

describe("the session limit", () => {
  it("ends the oldest session", async () => {
    const userId = await newUser();
    const ids: string[] = [];
    for (let second = 0; second < 7; second++) {
      ids.push((await issue(userId, new Date(noon.getTime() + second * 1000))).issued.id);
    }
    expect((await sessionIds(userId)).sort()).toEqual(ids.slice(2).sort());
  });

  it("keeps only the newest session if it is 1", async () => {
    const userId = await newUser();
    const context = scopeAt(noon, runtime.configured({ STILE_SESSION_LIMIT: "1" }));
    await issue(userId, noon, context);
    const { issued } = await issue(userId, noon, context);
    expect(await sessionIds(userId)).toEqual([issued.id]);
  });

  it("counts live sessions only, and deletes expired ones", async () => {
    const userId = await newUser();
    for (let time = 0; time < 5; time++) await issue(userId);
    const { issued } = await issue(userId, new Date(noon.getTime() + 13 * 3_600_000));
    expect(await sessionIds(userId)).toEqual([issued.id]);
  });

  it("holds for fifty concurrent sessions of one account", async () => {
    const [userId, other] = [await newUser(), await newUser()];
    const bystander = await issue(other);
    const made = await Promise.all(Array.from({ length: 50 }, () => issue(userId)));
    const left = await sessionIds(userId);
    expect(left).toHaveLength(5);
    expect(made.map(({ issued }) => issued.id)).toEqual(expect.arrayContaining(left));
    expect(await sessionIds(other)).toEqual([bystander.issued.id]);
  });
});

describe("reissuing a session", () => {
  it("returns an equivalent token for the same row", async () => {
    const userId = await newUser();
    const now = new Date();
    const { issued } = await issue(userId, now);
    const again = await reissueSession(scopeAt(), issued.id, { rememberMe: false, carrier: "cookie" });
    expect(again).toMatchObject({ id: issued.id, retention: issued.retention, expiresAt: issued.expiresAt });
    expect(decodeJwt(again?.token ?? "")).toEqual(decodeJwt(issued.token));
    expect(again?.lifetimeSeconds).toBeLessThanOrEqual(issued.lifetimeSeconds);
  });

  it("fails if the session has ended or expired, and at another tenant", async () => {
    const userId = await newUser();
    const ended = (await issue(userId, new Date())).issued.id;
    await commitWrites(runtime, endSession(scopeAt(), ended, "session.delete.explicit.logout"));
    const expired = (await issue(userId, new Date(Date.now() - 13 * 3_600_000))).issued.id;
    const live = (await issue(userId, new Date())).issued.id;
    const elsewhere = { runtime, tenant: { ...runtime.tenant, id: randomUUID() } };
    expect(await reissueSession(scopeAt(), ended, { rememberMe: false, carrier: "cookie" })).toBeNull();
    expect(await reissueSession(scopeAt(), expired, { rememberMe: false, carrier: "cookie" })).toBeNull();
    expect(await reissueSession(elsewhere, live, { rememberMe: false, carrier: "cookie" })).toBeNull();
  });
});

describe("ending sessions", () => {
  it("ends one, or all others, and never those of another account or tenant", async () => {
    const [userId, other] = [await newUser(), await newUser()];
    const [first, second, third] = [await issue(userId), await issue(userId), await issue(userId)];
    const bystander = await issue(other);
    const here = { runtime, tenant: runtime.tenant };
    const elsewhere = { runtime, tenant: { ...runtime.tenant, id: randomUUID() } };
    const reason = "session.delete.explicit.logout";
    await commitWrites(runtime, endSession(elsewhere, first.issued.id, reason));
    const ended = commitWrites(runtime, endOtherSessions(elsewhere, userId, reason));
    await expect(ended).rejects.toMatchObject({ reason: "user" });
    expect(await sessionIds(userId)).toHaveLength(3);
    await commitWrites(runtime, endSession(here, first.issued.id, reason));
    expect((await sessionIds(userId)).sort()).toEqual([second.issued.id, third.issued.id].sort());
    await commitWrites(runtime, endOtherSessions(here, userId, reason, third.issued.id));
    expect(await sessionIds(userId)).toEqual([third.issued.id]);
    await commitWrites(runtime, endOtherSessions(here, userId, reason));
    expect(await sessionIds(userId)).toEqual([]);
    expect(await sessionIds(other)).toEqual([bystander.issued.id]);
  });
});
