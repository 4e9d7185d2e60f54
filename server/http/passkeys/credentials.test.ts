import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { PasskeyApplication } from "../../testing/passkey-application.ts";
import { errorBody, invalidRequest, passkeySuite } from "../../testing/passkey-suite.ts";

const { runtime, application, auditLogs, newTenant } = await passkeySuite();

describe("GET credentials", () => {
  let credentialIds: string[];
  let other: PasskeyApplication;

  beforeAll(async () => {
    other = await newTenant();
    credentialIds = [];
    for (const name of ["a", "b", "c", "d", "e"])
      credentialIds.push((await other.register(name)).credentialId);
  });

  const ids = async (query: string) =>
    (await other.get(`/credentials${query}`)).body.map(({ id }: { id: string }) => id);

  test("returns the public properties of a credential", async () => {
    const { body } = await other.get("/credentials?user_id=a");
    expect(body).toEqual([
      {
        id: credentialIds[0],
        name: `cred-${credentialIds[0]}`,
        public_key: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
        attestation_type: "none",
        attestation_trust: "none",
        aaguid: "00000000-0000-0000-0000-000000000000",
        last_used_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        transports: ["internal", "hybrid"],
        backup_eligible: true,
        backup_state: true,
        is_mfa: false,
        user_id: "a",
      },
    ]);
  });

  test("sorts by creation, newest first by default", async () => {
    expect(await ids("")).toEqual(credentialIds.toReversed());
    expect(await ids("?order=desc")).toEqual(credentialIds.toReversed());
    expect((await other.get("/credentials?order=")).status).toBe(400);
    expect(await ids("?order=asc")).toEqual(credentialIds);
  });

  test("returns pages, with links to the others", async () => {
    const { headers } = await other.get("/credentials?order=asc&per_page=2&page=2");
    expect(headers.get("x-total-count")).toBe("5");
    const base = `http://localhost:3000/passkeys/${other.tenant.id}/credentials?order=asc&per_page=2&page=`;
    expect(headers.get("link")).toBe(
      `<${base}1>; rel="first", <${base}3>; rel="last", <${base}3>; rel="next", <${base}1>; rel="prev"`,
    );
    const pages = ["?order=asc&per_page=2", "?order=asc&per_page=2&page=2", "?order=asc&per_page=2&page=3"];
    expect((await Promise.all(pages.map(ids))).flat()).toEqual(credentialIds);
    expect(await ids("?page=4&per_page=2")).toEqual([]);
  });

  test("counts the credentials of its own tenant alone", async () => {
    await (await newTenant()).register("a");
    for (const query of ["", "?user_id=a"]) {
      const { body, headers } = await other.get(`/credentials${query}`);
      expect(headers.get("x-total-count")).toBe(String(body.length));
    }
  });

  test("links to itself if there is only one page", async () => {
    const { headers } = await other.get("/credentials?user_id=a");
    const at = `<http://localhost:3000/passkeys/${other.tenant.id}/credentials?user_id=a&page=1&per_page=20>`;
    expect(headers.get("link")).toBe(`${at}; rel="first", ${at}; rel="last"`);
    expect(headers.get("x-total-count")).toBe("1");
  });

  test.each(["unknown", "", "%00", "%FF", "a'--", "x".repeat(3_000)])(
    "returns an empty list for the unknown user %j",
    async (userId) => {
      const { status, body, headers } = await other.get(`/credentials?user_id=${userId}`);
      expect([status, body, headers.get("x-total-count")]).toEqual([200, [], "0"]);
    },
  );

  const page = "page must be a number from 1 to 1000000";
  const size = "per_page must be a number from 1 to 100";
  test.each([
    ["page=0", page],
    ["page=-1", page],
    ["page=1.5", page],
    ["page=x", page],
    ["page=1e3", page],
    ["page=1000001", page],
    [`page=${"9".repeat(400)}`, page],
    ["per_page=0", size],
    ["per_page=101", size],
    ["per_page=２", size],
    ["order=up", "order must be one of 'asc desc'"],
    ["order=ASC", "order must be one of 'asc desc'"],
  ])("rejects the query ?%s", async (query, details) => {
    const answer = await other.get(`/credentials?${query}`);
    expect(answer.body).toEqual(invalidRequest(details));
    expect(answer.status).toBe(400);
  });
});

describe("credentials/{credential_id}", () => {
  test("returns, renames and deletes a credential", async () => {
    const { credentialId } = await application.register(randomUUID());
    const path = `/credentials/${credentialId}`;
    const before = (await application.get(path)).body;

    const renamed = await application.call("PATCH", path, { name: "Ada's phone", more: true });
    expect([renamed.status, renamed.body]).toEqual([204, undefined]);
    expect((await application.get(path)).body).toEqual({ ...before, name: "Ada's phone" });

    const removed = await application.call("DELETE", path);
    expect([removed.status, removed.body]).toEqual([204, undefined]);
    expect((await application.get(path)).status).toBe(404);
    expect((await application.call("DELETE", path)).status).toBe(404);
    const entries = (await auditLogs("credential_id", credentialId)).map(({ type, details }) => [
      type,
      details.actor_user_id,
    ]);
    expect(entries).toEqual([
      ["webauthn_registration_final_succeeded", before.user_id],
      ["webauthn_credential_updated", before.user_id],
      ["webauthn_credential_deleted", before.user_id],
    ]);
  });

  test("omits an absent name", async () => {
    const { credentialId } = await application.register(randomUUID());
    const { passkeyCredentials: table } = schema;
    await runtime.database.write
      .update(table)
      .set({ name: null, lastUsedAt: null })
      .where(eq(table.id, credentialId));
    const { body } = await application.get(`/credentials/${credentialId}`);
    expect(body).not.toHaveProperty("name");
    expect(body).not.toHaveProperty("last_used_at");
  });

  test.each([
    ["AAAA", "AAAA"],
    ["a%20'b%22%3Cscript%3E", `a 'b"<script>`],
    ["%00", "\0"],
    ["$&", "$&"],
    ["x".repeat(5_000), "x".repeat(1364)],
  ])("rejects the unknown id %s", async (segment, decoded) => {
    const expected = errorBody(404, `credential with id '${decoded}' not found`, "");
    for (const [method, body] of [["GET"], ["PATCH", { name: "a" }], ["DELETE"]] as const) {
      const answer = await application.call(method, `/credentials/${segment}`, body);
      expect([method, answer.status, answer.body]).toEqual([method, 404, expected]);
    }
  });

  test.each([
    [undefined, "name is a required field"],
    [{}, "name is a required field"],
    [{ name: null }, "name is a required field"],
    [{ name: "" }, "name is a required field"],
    [{ name: "   " }, "name is a required field"],
    [{ name: 1 }, "name must be a string"],
    [{ name: ["a"] }, "name must be a string"],
    [{ name: "a\0" }, "name must not contain the character NUL"],
    [{ name: "a".repeat(129) }, "name cannot have more than 128 entries"],
    ["[]", "the body must be a JSON object"],
  ])("rejects the name in %j", async (body, details) => {
    const { credentialId } = await application.register(randomUUID());
    const answer = await application.call("PATCH", `/credentials/${credentialId}`, body);
    expect(answer.body).toEqual(invalidRequest(details));
  });

  test("deletes a credential once for concurrent requests", async () => {
    const { credentialId } = await application.register(randomUUID());
    const statuses = await Promise.all(
      Array.from(
        { length: 5 },
        async () => (await application.call("DELETE", `/credentials/${credentialId}`)).status,
      ),
    );
    expect(statuses.toSorted()).toEqual([204, 404, 404, 404, 404]);
  });
});
