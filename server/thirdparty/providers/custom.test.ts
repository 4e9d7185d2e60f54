import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { mapClaims } from "./claims.ts";
import { enabledOAuthProviders, findProvider } from "./index.ts";

const config = (environment: Record<string, string>) => loadConfig(environment, "/nowhere");

const acme = { display_name: "acme", client_id: "client", issuer: "https://id.acme.example" };

describe("attribute_mapping", () => {
  const standard = {
    sub: "1",
    email: "a@example.com",
    email_verified: true,
    name: "A B",
    given_name: "A",
    family_name: "B",
    picture: "https://pictures.example/a",
  };

  test("is not needed for standard claims", () => {
    expect(mapClaims(standard, {})).toEqual({
      subject: "1",
      email: "a@example.com",
      emailVerified: true,
      name: "A B",
      givenName: "A",
      familyName: "B",
      picture: "https://pictures.example/a",
    });
  });

  test("accepts the names of facts and those of standard claims", () => {
    const claims = { id: 7, mail: "a@example.com", confirmed: true };
    const mapping = { subject: "id", email: "mail", email_verified: "confirmed" };
    expect(mapClaims(claims, mapping)).toMatchObject({
      subject: 7,
      email: "a@example.com",
      emailVerified: true,
    });
    expect(mapClaims(claims, { sub: "id" })).toMatchObject({ subject: 7 });
  });

  test("addresses claims in objects, and claims whose names have dots", () => {
    const claims = { data: { user: { id: "x" } }, "https://acme.example/mail": "a@example.com" };
    const mapping = {
      subject: "data.user.id",
      email: "https://acme.example/mail",
      name: "data.absent.path",
    };
    expect(mapClaims(claims, mapping)).toMatchObject({
      subject: "x",
      email: "a@example.com",
      name: undefined,
    });
  });

  test("does not reach inherited properties", () => {
    expect(
      mapClaims({}, { subject: "constructor.name", email: "__proto__", name: "toString" }),
    ).toMatchObject({
      subject: undefined,
      email: undefined,
      name: undefined,
    });
  });
});

describe("enabled providers", () => {
  const enabled = (id: string) => ({
    [`STILE_THIRD_PARTY_PROVIDERS_${id}_ENABLED`]: "true",
    [`STILE_THIRD_PARTY_PROVIDERS_${id}_CLIENT_ID`]: "client",
    [`STILE_THIRD_PARTY_PROVIDERS_${id}_SECRET`]: "secret",
  });

  test("are none by default", () => {
    expect(enabledOAuthProviders(config({}))).toEqual([]);
  });

  test("are listed in the protocol's order, then the custom ones by name", () => {
    const everything = config({
      ...Object.assign(
        {},
        ...["APPLE", "DISCORD", "FACEBOOK", "GITHUB", "GOOGLE", "LINKEDIN", "MICROSOFT"].map(enabled),
      ),
      STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
        z: { ...acme, display_name: "Émile" },
        a: { ...acme, display_name: "Zorro" },
        m: acme,
      }),
    });
    expect(enabledOAuthProviders(everything).map(({ id, name }) => [id, name])).toEqual([
      ["apple", "Apple"],
      ["discord", "Discord"],
      ["github", "GitHub"],
      ["google", "Google"],
      ["linkedin", "LinkedIn"],
      ["microsoft", "Microsoft"],
      ["facebook", "Facebook"],
      ["custom_m", "acme"],
      ["custom_z", "Émile"],
      ["custom_a", "Zorro"],
    ]);
  });

  test.each(["google", "GITHUB", "custom_", "custom_acme", "__proto__", "constructor", ""])(
    "do not include %j",
    (id) => {
      expect(findProvider(config(enabled("GITHUB")), id)).toBeNull();
    },
  );
});
