import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { userObjectSchema } from "../../objects/user-object.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

describe("a user", () => {
  test("is blocked and unblocked, each call having one effect however often it is made", async () => {
    const { userId } = await accountOwner(runtime);
    const path = `/users/${userId}`;
    const blocked = await call("POST", `${path}/block`);
    expect(blocked.status).toBe(200);
    expect(userObjectSchema.parse(blocked.body).blocked_at).toEqual(expect.any(String));
    expect((await call("POST", `${path}/block`)).body).toEqual(blocked.body);
    expect((await call("GET", `${path}/sessions`)).body).toEqual([]);
    expect((await call("GET", path)).body).toEqual(blocked.body);
    for (const _ of [1, 2]) {
      const unblocked = await call("POST", `${path}/unblock`);
      expect(unblocked).toMatchObject({ status: 200, body: { id: userId } });
      expect(unblocked.body).not.toHaveProperty("blocked_at");
    }
    const by = { by: "admin", api_key: expect.any(String) };
    expect(await auditTrail(runtime, userId)).toEqual([
      ["user_blocked", by],
      ["user_unblocked", by],
    ]);
  });

  test("that the tenant does not have is 404, and what is no UUID 400", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/block"],
      ["POST", "/unblock"],
    ] as const) {
      expect((await call(method, `/users/${randomUUID()}${path}`)).status).toBe(404);
      expect((await call(method, `/users/1${path}`)).status).toBe(400);
    }
  });
});
