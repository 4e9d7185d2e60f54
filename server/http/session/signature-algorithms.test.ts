import { createHmac, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { createRemoteJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { openForTests } from "../../testing/open-for-tests.ts";
import { startServer } from "../../testing/server.ts";
import { startService } from "../../testing/service.ts";

/** Session tokens of each algorithm, issued by a running server and verified by `jose`, which the server does not use. */

const text = expect.stringMatching(/^[\w-]+$/);
const members = {
  RS256: { kty: "RSA", n: text, e: "AQAB" },
  ES256: { kty: "EC", crv: "P-256", x: text, y: text },
  EdDSA: { kty: "OKP", crv: "Ed25519", x: text },
};
type Algorithm = keyof typeof members;
const algorithms = Object.keys(members) as Algorithm[];

const service = await openForTests(
  startService({
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
    STILE_RATE_LIMITER_ENABLED: "false",
  }),
);
const adminKey = await service.stile("keys", "create", "--interface", "admin");

async function administer(method: string, path: string, body: unknown) {
  const response = await fetch(`${service.server.url}/admin/tenants${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

const settings = (algorithm: string) => ({ config: { session: { algorithm } } });

/** Creates a tenant whose tokens are signed by an algorithm. */
async function tenantOf(algorithm: Algorithm) {
  const { answer } = await administer("POST", "", { name: algorithm, ...settings(algorithm) });
  const id = String(answer.id);
  const url = `${service.server.url}/t/${id}`;
  const keySet = async () => (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
  const isValid = async (session_token: string) => {
    const response = await fetch(`${url}/sessions/validate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ session_token }),
    });
    return (await response.json()).is_valid;
  };
  return {
    id,
    url,
    keySet,
    isValid,
    /** Registers a user, and returns the token of the session. */
    async signIn(): Promise<string> {
      const client = flowClient(url);
      await client.start("registration");
      await client.act("register_client_capabilities", {});
      await client.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
      await client.act("register_password", { new_password: "nine otters under the bridge" });
      expect(client.state.name).toBe("success");
      return client.cookies.get("service") ?? "";
    },
    /** Expects that the server and an application accept a token. */
    async accepts(token: string, algorithm: Algorithm): Promise<void> {
      const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
      const expected = { algorithms: [algorithm], issuer: url, audience: id, typ: "JWT" };
      expect((await jwtVerify(token, keys, expected)).payload).toHaveProperty("session_id");
      expect(await isValid(token)).toBe(true);
    },
  };
}

test.each(algorithms)("an application verifies a session of %s by the key set", async (algorithm) => {
  const tenant = await tenantOf(algorithm);
  const token = await tenant.signIn();
  await tenant.accepts(token, algorithm);
  const { kid } = decodeProtectedHeader(token);
  expect(await tenant.keySet()).toEqual({
    keys: [{ ...members[algorithm], kid, alg: algorithm, use: "sig" }],
  });
});

test("A181 a changed algorithm signs with a new key, and tokens of the former one stay valid", async () => {
  const tenant = await tenantOf("RS256");
  const before = await tenant.signIn();
  expect((await administer("PATCH", `/${tenant.id}`, settings("EdDSA"))).status).toBe(200);
  // The new key is only published at first.
  await tenant.accepts(await tenant.signIn(), "RS256");
  await service.database.database.write.execute(
    sql`update signing_keys set created_at = created_at - interval '23 minutes' where tenant_id = ${tenant.id}`,
  );
  const after = await eventually(async () => {
    expect((await tenant.keySet()).keys.map(({ alg }) => alg)).toEqual(["EdDSA", "RS256"]);
    const token = await tenant.signIn();
    expect(decodeProtectedHeader(token).alg).toBe("EdDSA");
    return token;
  });
  await tenant.accepts(after, "EdDSA");
  await tenant.accepts(before, "RS256");
});

test.each(algorithms)(
  "A182 a token of a key of %s is refused under any other algorithm",
  async (algorithm) => {
    const tenant = await tenantOf(algorithm);
    const token = await tenant.signIn();
    const [head = "", payload, signature] = token.split(".");
    const header = JSON.parse(Buffer.from(head, "base64url").toString());
    const [{ kid, alg, use, ...publicJwk } = {}] = (await tenant.keySet()).keys;
    for (const other of ["none", "HS256", "RS256", "ES256", "EdDSA", "PS256"].filter(
      (name) => name !== algorithm,
    )) {
      const renamed = `${Buffer.from(JSON.stringify({ ...header, alg: other })).toString("base64url")}.${payload}`;
      const mac = createHmac("sha256", JSON.stringify(publicJwk)).update(renamed).digest("base64url");
      for (const one of [signature, mac, ""]) expect(await tenant.isValid(`${renamed}.${one}`)).toBe(false);
      const bearer = { headers: { authorization: `Bearer ${renamed}.${mac}` } };
      expect((await fetch(`${tenant.url}/me`, bearer)).status).toBe(401);
    }
    expect(await tenant.isValid(token)).toBe(true);
  },
);

test("A184 an algorithm that is none of the three is refused, for a tenant and at the start", async () => {
  const tenant = await tenantOf("ES256");
  for (const algorithm of ["none", "HS256", "ES384", "rs256", ""]) {
    const { status, answer } = await administer("PATCH", `/${tenant.id}`, settings(algorithm));
    expect([status, answer.message]).toEqual([400, expect.stringContaining("session.algorithm")]);
  }
  await tenant.accepts(await tenant.signIn(), "ES256");
  await expect(startServer({ env: { STILE_SESSION_ALGORITHM: "HS256" } })).rejects.toThrow(
    'STILE_SESSION_ALGORITHM (session.algorithm): Invalid option: expected one of "RS256"|"ES256"|"EdDSA"',
  );
});
