import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createTenant } from "../tenants/manage-tenants.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { runStile } from "../testing/stile.ts";

/** `stile clients`, on the database of a tenant. */

const runtime = await runtimeForTests();
const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
const folder = mkdtempSync(join(tmpdir(), "stile-clients-"));
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  NODE_ENV: "development" as const,
  DATABASE_URL: runtime.database.write.$client.options.connectionString ?? "",
  SECRET_KEYS: "a key for tests alone",
  STILE_SESSION_ALGORITHM: "ES256",
};

const stile = (...words: string[]) => runStile(["clients", ...words], { cwd: folder, env });

async function printed(...words: string[]): Promise<string> {
  const { code, out, err } = await stile(...words, "--tenant", tenant.id);
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
}

function file(settings: unknown): string {
  const path = join(folder, "client.json");
  writeFileSync(path, JSON.stringify(settings));
  return path;
}

const shop = { name: "Shop", redirect_uris: ["https://shop.example.com/callback"] };

test("a client is created, listed, changed, given a secret and deleted", async () => {
  expect(await printed("list", "--json")).toBe("[]");
  expect(await printed("create", "shop", "--settings", file(shop))).toBe("shop");
  expect(JSON.parse(await printed("list", "--json"))).toEqual([{ id: "shop", settings: shop, secrets: [] }]);
  await printed("update", "shop", "--settings", file({ require_par: true }));
  const secret = await printed("secret", "shop");
  expect(secret).toMatch(/^[\w-]{43}$/);
  const [listed] = JSON.parse(await printed("list", "--json"));
  expect(listed).toEqual({ id: "shop", settings: { ...shop, require_par: true }, secrets: ["secret"] });
  expect(await printed("list")).toMatch(/shop +client_secret_basic +Shop/);
  expect(await printed("delete", "shop")).toBe("");
  expect(await printed("list", "--json")).toBe("[]");
});

test("a client gets claims by templates", async () => {
  const settings = { ...shop, claims: { plan: '{{.User.Metadata.Public "plan"}}' } };
  await printed("create", "club", "--settings", file(settings));
  await printed("update", "club", "--settings", file({ access_token_claims: { kind: "club" } }));
  const [listed] = JSON.parse(await printed("list", "--json"));
  expect(listed.settings).toEqual({ ...settings, access_token_claims: { kind: "club" } });
  await printed("delete", "club");
});

test.each([
  ["that exists already", ["create", "taken"], shop, /there is a client taken already/],
  ["that does not exist", ["update", "nothing"], shop, /there is no such client/],
  ["with an invalid setting", ["create", "bad"], { ...shop, secret: "short" }, /at least 32 characters/],
  [
    "with a claim that is not its own",
    ["create", "bad"],
    { ...shop, claims: { sub: "x" } },
    /the claim "sub"/,
  ],
  ["with an id that is none", ["create", "__proto__"], shop, /is not a client id/],
])("a client %s is refused in one line", async (_, words, settings, reason) => {
  await stile("create", "taken", "--settings", file(shop), "--tenant", tenant.id);
  const { code, err } = await stile(...words, "--settings", file(settings), "--tenant", tenant.id);
  expect(code).toBe(1);
  expect(err).toMatch(reason);
  expect(err.trim().split("\n")).toHaveLength(1);
});

test("the clients of the default tenant are configured, and listed", async () => {
  expect((await stile("list", "--json")).out.trim()).toBe("[]");
  const words = ["create", "shop", "--settings", file(shop), "--tenant", runtime.tenant.id];
  expect(await stile(...words)).toMatchObject({ code: 1, err: expect.stringMatching(/default tenant/) });
});
