import { expect, test } from "vitest";
import { type Tree, withValueAt } from "../lib/tree.ts";
import { changedSettings, configOfImpersonal, impersonalSettings } from "./impersonal-settings.ts";
import { configLeaves, loadConfig } from "./load.ts";
import type { Config } from "./schema.ts";

const config = loadConfig({}, "/nowhere");

/** Every text of a value is another one, with a mark; flags and numbers stay. */
function marked(value: unknown): unknown {
  if (typeof value === "string") return `mark ${value}`;
  if (Array.isArray(value)) return [...value, "mark"].map(marked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, marked(member)]));
}

test("A343 recorded settings have no text or free JSON that an operator has written, and no key of a map but those of providers", () => {
  const claims = { plan: 4_242_424_242, deep: { number: 4_242_424_242, list: [4_242_424_242] } };
  const maps = {
    openid: { clients: { "mark-client": { secret: "mark", redirect_uris: ["mark"] } } },
    session: { ...config.session, jwt_template: { claims } },
  };
  const texts = configLeaves().reduce<Tree>(
    (tree, { path, type }) => {
      // Names of the protocol, as its schema says.
      if (path.join(".") === "third_party.order") return withValueAt(tree, path, []);
      if (type === "string") return withValueAt(tree, path, "mark");
      return type === "list" ? withValueAt(tree, path, ["mark", { name: "mark", secret: "mark" }]) : tree;
    },
    marked({ ...config, ...maps }) as Tree,
  );
  const recorded = JSON.stringify(impersonalSettings(texts as unknown as Config));
  expect(JSON.stringify(texts).match(/mark/g)?.length).toBeGreaterThan(150);
  expect(recorded).not.toContain("mark");
  expect(JSON.stringify(texts)).toContain("4242424242");
  expect(recorded).not.toContain("4242424242");
});

test("they have flags, numbers, choices and texts that are the default", () => {
  const settings = loadConfig(
    { STILE_MFA_DEVICE_TRUST_POLICY: "always", STILE_PASSWORD_MIN_LENGTH: "11", STILE_SERVICE_NAME: "Acme" },
    "/nowhere",
  );
  const recorded = impersonalSettings(settings);
  expect(recorded).toMatchObject({
    mfa: { device_trust_policy: "always" },
    password: { min_length: 11 },
    service: { name: "~" },
    session: { cookie: { same_site: "lax" } },
  });
  expect(configOfImpersonal(recorded).password.min_length).toBe(11);
});

test("a setting that was not recorded, or has another type, is the default", () => {
  const recorded = { password: { min_length: "long", enabled: 1 }, mfa: "off", unknown: { setting: true } };
  const { password, mfa } = configOfImpersonal(recorded);
  expect([password.min_length, password.enabled, mfa.enabled]).toEqual([8, true, true]);
  expect(configOfImpersonal(null).password.enabled).toBe(true);
});

test("settings that differ are told by name", () => {
  const other = loadConfig({ STILE_PASSWORD_MIN_LENGTH: "11" }, "/nowhere");
  expect(changedSettings(impersonalSettings(config), impersonalSettings(other))).toEqual([
    { name: "password.min_length", before: 8, now: 11 },
  ]);
});
