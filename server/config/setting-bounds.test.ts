import { expect, test } from "vitest";
import { isServerSetting } from "../tenants/tenant-config.ts";
import { type SettingBounds, settingBounds } from "./setting-bounds.ts";

const kinds: Record<SettingBounds["kind"], (setting: SettingBounds) => boolean> = {
  text: ({ max }) => max !== undefined,
  // One that may name every country is longer than the others, and its entries have two letters.
  list: ({ max, path }) => max !== undefined && max <= (path.at(-1) === "allowed_countries" ? 250 : 100),
  map: ({ max }) => max !== undefined,
  json: ({ max, levels }) => max !== undefined && levels !== undefined,
  number: ({ max }) => max !== undefined,
  choice: ({ values }) => values !== undefined,
  boolean: () => true,
};

const ofTenants = settingBounds().filter(({ path }) => !isServerSetting(path));

test("A141 every text, list, map and number that a tenant may set has a bound", () => {
  const unbounded = ofTenants.filter((setting) => !kinds[setting.kind](setting));
  expect(unbounded.map(({ path }) => path.join("."))).toEqual([]);
});

test("the bounds are those of all settings", () => {
  const paths = ofTenants.map(({ path }) => path.join("."));
  expect(paths).toEqual(
    expect.arrayContaining([
      "service.name",
      "cors.allow_origins",
      "cors.allow_origins.[]",
      "words",
      "words.{}.{key}",
      "words.{}.{}",
      "third_party.custom_providers.{}.attribute_mapping",
      "saml.identity_providers.[].attribute_map.email",
      "session.jwt_template.claims",
      "session.jwt_template.claims.{}",
      "theme.logo.light",
      "links.help",
      "passkey_server.attestation_models.[].roots.[]",
      "webhooks.hooks.[].events",
      "session.lifespan",
    ]),
  );
  expect(paths).not.toContain("database.pool_size");
  expect(new Set(paths).size).toBe(paths.length);
});

test("the bounds of a duration have their unit, and those of other numbers have none", () => {
  const boundsOf = (name: string) => ofTenants.find(({ path }) => path.join(".") === name);
  expect(boundsOf("email.passcode_ttl")).toMatchObject({ kind: "number", max: 600, unit: "seconds" });
  expect(boundsOf("email.limit")).not.toHaveProperty("unit");
});
