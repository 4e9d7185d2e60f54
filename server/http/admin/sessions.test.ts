import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { issueSession } from "../../sessions/sessions.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { insertUser } from "../../testing/users.ts";
import { visitor } from "../../testing/visitor.ts";
import { commitWrites } from "../../testing/writes.ts";

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

async function signedIn(userId: string) {
  const made = await issueSession(requestContext(runtime), {
    userId,
    factors: [],
    amr: [],
    rememberMe: false,
    email: null,
    emailVerified: false,
    username: null,
  });
  await commitWrites(runtime, made.write);
  return made.issued;
}

const isValid = async (session_token: string) => {
  const answer = await visitor(runtime).post("/sessions/validate", { session_token });
  return ((await answer.json()) as { is_valid: boolean }).is_valid;
};

describe("the sessions of a user", () => {
  test("are listed, and one is ended at once", async () => {
    const userId = await insertUser(runtime);
    const [one, two] = [await signedIn(userId), await signedIn(userId)];
    const path = `/users/${userId}/sessions`;
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const session = {
      user_id: userId,
      user_agent: "Test/1.0",
      ip_address: "192.0.2.1",
      created_at: time,
      updated_at: time,
      expires_at: time,
      last_used: time,
    };
    const listed = await call("GET", path);
    expect(listed.status).toBe(200);
    expect(listed.body).toHaveLength(2);
    expect(listed.body).toEqual(
      expect.arrayContaining([
        { id: one.id, ...session },
        { id: two.id, ...session },
      ]),
    );
    expect(await call("DELETE", `${path}/${one.id}`)).toMatchObject({ status: 204, text: "" });
    expect([await isValid(one.token), await isValid(two.token)]).toEqual([false, true]);
    expect((await call("DELETE", `${path}/${one.id}`)).status).toBe(404);
    expect(await auditTrail(runtime, userId)).toEqual([
      ["session_revoked", { by: "admin", api_key: expect.any(String) }],
    ]);
  });

  test("A68 are not ended through another user", async () => {
    const [userId, other] = [await insertUser(runtime), await insertUser(runtime)];
    const session = await signedIn(userId);
    expect((await call("DELETE", `/users/${other}/sessions/${session.id}`)).status).toBe(404);
    expect(await isValid(session.token)).toBe(true);
  });

  test("of an unknown user are 404, and of what is no UUID 400", async () => {
    expect((await call("GET", `/users/${randomUUID()}/sessions`)).status).toBe(404);
    expect((await call("GET", "/users/x/sessions")).status).toBe(400);
    expect((await call("DELETE", `/users/${randomUUID()}/sessions/${randomUUID()}`)).status).toBe(404);
    expect((await call("DELETE", `/users/${randomUUID()}/sessions/x`)).status).toBe(400);
  });
});
