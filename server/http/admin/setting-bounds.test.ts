import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { type SettingBounds, settingBounds } from "../../config/setting-bounds.ts";
import { createTenant, MAX_SETTINGS_CHARACTERS, updateTenant } from "../../tenants/manage-tenants.ts";
import { isServerSetting } from "../../tenants/tenant-config.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { vectorRoot } from "../../testing/webauthn-vectors.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);
const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

const ofTenants = settingBounds().filter(({ path }) => !isServerSetting(path));

/** What an item needs beside the member that is tried. */
const required: Record<string, object> = {
  "third_party.custom_providers.{}": { display_name: "x", client_id: "x", issuer: "https://id.example" },
  "openid.clients.{}": { name: "x", redirect_uris: ["https://app.example/callback"] },
  "openid.clients.{}.jwks.keys.[]": { kty: "EC" },
  "openid.resources.{}": {},
  "openid.scopes.{}": {},
  "saml.identity_providers.[]": { name: "x", domain: "a.example", metadata_url: "https://id.example/x" },
  "passkey_server.attestation_models.[]": {
    aaguid: "ee882879-721c-4913-9775-3dfcce97072a",
    roots: [vectorRoot.toString()],
  },
  "well_known.android_apps.[]": {
    package_name: "com.example.app",
    sha256_cert_fingerprints: [Array.from({ length: 32 }, () => "AB").join(":")],
  },
  "authenticator.accepted.[]": { aaid: "006F#0001" },
  "webhooks.hooks.[]": { callback: "https://app.example.com/x", events: ["user"] },
};

/** Keys of maps that have only some. */
const keyIn: Record<string, string> = {
  words: "en",
  "openid.resources": "https://api.example",
  "third_party.custom_providers": "x",
  "words.{}": "page.signIn",
};

/** A value of a number of characters, items, members or units, with as few characters as possible. */
function sized({ kind, path }: SettingBounds, size: number): unknown {
  if (kind === "number") return size;
  if (kind === "list") return Array.from({ length: size }, () => "");
  if (kind === "map") {
    const member = memberOf(path);
    return Object.fromEntries(Array.from({ length: size }, (_, at) => [at.toString(36), member]));
  }
  // With its quotes, which count as JSON.
  return "x".repeat(kind === "json" ? size - 2 : size);
}

/** A valid member of a map. */
const memberOf = (map: readonly string[]): unknown =>
  required[`${map.join(".")}.{}`] ?? (map.at(-1) === "words" ? {} : "x");

/** The settings that have a value at a path, with what its items need. */
function settingsWith(path: readonly string[], value: unknown, at: readonly string[] = []): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const here = [...at, first];
  if (first === "{key}") return { [String(value)]: memberOf(at) };
  const inner = settingsWith(rest, value, here);
  const needed = required[here.join(".")];
  const item = needed && typeof inner === "object" ? { ...needed, ...inner } : inner;
  if (first === "[]") return [item];
  return { [first === "{}" ? keyOf(at) : first]: item };
}

/** The path as messages name it, as far as a length does not shorten it. */
const namesIn = (path: readonly string[]) =>
  path.flatMap((part, at) => {
    if (part === "{}") return [keyOf(path.slice(0, at))];
    return part === "[]" || part === "{key}" ? [] : [part];
  });

const keyOf = (map: readonly string[]) => keyIn[map.join(".")] ?? "x";

const stored = async () =>
  (await runtime.database.read.select().from(schema.tenants)).find(({ id }) => id === tenant.id);

/** Changes the settings by the interface, or as the command line does where a body of the interface is too large. */
async function change(config: unknown): Promise<{ status: number; message: string }> {
  const answer = await operator.call("PATCH", `/tenants/${tenant.id}`, { config });
  const isTooLarge = answer.status === 413 || answer.text.includes("must be a JSON object");
  if (!isTooLarge) return { status: answer.status, message: String(answer.body?.message ?? "") };
  try {
    await updateTenant(runtime, tenant.id, { settings: () => config as Record<string, unknown> });
    return { status: 200, message: "" };
  } catch (error) {
    return { status: 400, message: (error as Error).message };
  }
}

describe("A141 a setting of a tenant", () => {
  const bounded = ofTenants.filter(({ max }) => max !== undefined);
  const rule = /must not (?:be longer|have more|be more) than|must have 1 to|must be between/;

  test.each(bounded.map((setting) => [setting.path.join("."), setting] as const))(
    "%s: at its bound, one beyond and 100 times beyond",
    async (_, setting) => {
      const { path, max = 0 } = setting;
      const named = namesIn(path).join(".");
      const before = await stored();
      const atBound = await change(settingsWith(path, sized(setting, max)));
      expect([200, 400]).toContain(atBound.status);
      if (setting.kind !== "number") expect(atBound.message).not.toMatch(rule);
      if (atBound.status === 200) await updateTenant(runtime, tenant.id, { settings: () => ({}) });
      else expect(await stored()).toEqual(before);

      const unchanged = await stored();
      for (const size of [max + 1, max * 100]) {
        const config = settingsWith(path, sized(setting, size));
        const isBeyondAll = JSON.stringify(config).length > MAX_SETTINGS_CHARACTERS;
        const name = isBeyondAll ? "a tenant's settings must not have more than" : named;
        const { status, message } = await change(config);
        expect([status, message]).toEqual([400, expect.stringContaining(name)]);
        expect(message.length).toBeLessThan(400);
      }
      expect(await stored()).toEqual(unchanged);
    },
  );
});
