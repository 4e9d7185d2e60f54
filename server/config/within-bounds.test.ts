import { describe, expect, test } from "vitest";
import { loadConfig, parseConfig } from "./load.ts";

const load = (settings: Record<string, unknown>) =>
  loadConfig(
    Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
    "/nowhere",
  );
const linesOf = (settings: Record<string, unknown>) => load(settings).ignored.map(({ line }) => line);

test("a configuration within the bounds has no ignored entries", () => {
  expect(load({}).ignored).toEqual([]);
});

describe("A141 a configuration from before a bound was made", () => {
  test("keeps all of a list but the entries beyond it", () => {
    const good = ["https://app.example.com/*", "https://app.example.com/**"];
    const setting = "STILE_HOSTED_ALLOWED_REDIRECT_URLS";
    const [first = "", last = ""] = good;
    const wrong = [
      `https://app.example.com/${"a".repeat(255)}`,
      "https://*.*.*.example.com/",
      `https://a.example/${"*/".repeat(5)}`,
    ];
    const config = load({ [setting]: [first, ...wrong, last] });
    expect(config.hosted.allowed_redirect_urls).toEqual(good);
    const name = `${setting} (hosted.allowed_redirect_urls)`;
    expect(config.ignored.map(({ line }) => line)).toEqual([
      `${name} (number 2): must not be longer than 255 characters; it is ignored`,
      `${name} (number 3): must not have more than 2 wildcards in a host; it is ignored`,
      `${name} (number 4): must not have more than 4 wildcards; it is ignored`,
    ]);
  });

  test("keeps the first entries of a list that is too long, and the first members of a map", () => {
    const origins = Array.from({ length: 150 }, (_, at) => `https://app${at}.example.com`);
    const claims = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`claim${at}`, at]));
    const config = load({ STILE_CORS_ALLOW_ORIGINS: origins, STILE_SESSION_JWT_TEMPLATE_CLAIMS: claims });
    expect(config.cors.allow_origins).toEqual(origins.slice(0, 100));
    expect(Object.keys(config.session.jwt_template.claims)).toEqual(Object.keys(claims).slice(0, 50));
    expect(config.ignored.map(({ line }) => line)).toEqual([
      "STILE_CORS_ALLOW_ORIGINS (cors.allow_origins): must not have more than 100 entries; the others are ignored",
      "STILE_SESSION_JWT_TEMPLATE_CLAIMS (session.jwt_template.claims): must not have more than 50 members; the others are ignored",
    ]);
  });

  test("keeps the first members of its own beside inherited ones", () => {
    const claimsOf = (name: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at]));
    const tree = (claims: object) => ({ session: { jwt_template: { claims } } });
    const settings = { base: tree(claimsOf("server", 45)), over: tree(claimsOf("own", 6)) };
    const { session, ignored } = parseConfig(settings, { mode: "development", directory: "/nowhere" });
    const own = Object.keys(session.jwt_template.claims).filter((name) => name.startsWith("own"));
    expect(own).toEqual(Object.keys(claimsOf("own", 5)));
    expect(Object.keys(session.jwt_template.claims)).toHaveLength(50);
    expect(ignored).toHaveLength(1);
  });

  test("uses the default of a text that is too long", () => {
    const config = load({ STILE_AUTHENTICATOR_QR_CODE_TEMPLATE: `{url}${"#".repeat(1000)}` });
    expect(config.authenticator.qr_code_template).toBe("{url}");
    expect(config.ignored.map(({ line }) => line)).toEqual([
      "STILE_AUTHENTICATOR_QR_CODE_TEMPLATE (authenticator.qr_code_template): must not be longer than 1000 characters; it is ignored",
    ]);
  });

  test("leaves out an item whose required member is beyond a bound, and only the member if it is optional", () => {
    const provider = { client_id: "x", issuer: "https://id.example" };
    const custom = {
      long_name: { ...provider, display_name: "x".repeat(300) },
      long_prompt: { ...provider, display_name: "Good", prompt: "x".repeat(300) },
    };
    const config = load({ STILE_THIRD_PARTY_CUSTOM_PROVIDERS: custom });
    expect(Object.keys(config.third_party.custom_providers)).toEqual(["long_prompt"]);
    expect(config.third_party.custom_providers.long_prompt?.prompt).toBeUndefined();
    expect(config.ignored.map(({ line }) => line)).toEqual([
      "third_party.custom_providers.long_name.display_name: must not be longer than 255 characters; it is ignored",
      "third_party.custom_providers.long_prompt.prompt: must not be longer than 255 characters; it is ignored",
      "third_party.custom_providers.long_name: display_name is missing; it is ignored",
    ]);
  });

  test("leaves out an item that a rule rejects without a member beyond a bound", () => {
    const rules = { metadata_url: "https://id.example/metadata" };
    const saml = [
      { ...rules, name: "One", domain: "a".repeat(300) },
      { ...rules, name: "Other", domain: "b.example" },
    ];
    const accepted = [{ aaid: "006F#0001", roots: ["x".repeat(20_000)], attestation: "full" }];
    const config = load({ STILE_SAML_IDENTITY_PROVIDERS: saml, STILE_AUTHENTICATOR_ACCEPTED: accepted });
    expect(config.saml.identity_providers.map(({ name }) => name)).toEqual(["Other"]);
    expect(config.authenticator.accepted.map(({ name }) => name)).toEqual(["Hanko Authenticator"]);
  });

  test("leaves out a claim that is too long, too deep or has too long a name", () => {
    const deep = Array.from({ length: 9 }).reduce<unknown>((value) => [value], 1);
    const claims = { long: "x".repeat(5_000), deep, ["n".repeat(65)]: 1, good: "{{.User.Name}}" };
    const config = load({ STILE_SESSION_JWT_TEMPLATE_CLAIMS: claims });
    expect(config.session.jwt_template.claims).toEqual({ good: "{{.User.Name}}" });
    expect(config.ignored).toHaveLength(3);
  });

  test("tells no value, and names a long key by its beginning", () => {
    const lines = linesOf({
      SMTP_URL: `smtp://user:hush@mail.example/${"x".repeat(3_000)}`,
      STILE_WORDS: { en: { ["k".repeat(5_000)]: "x" } },
    });
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain("hush");
    for (const line of lines) expect(line.length).toBeLessThan(250);
  });

  test.each([
    ["a number", { STILE_PASSWORD_MIN_LENGTH: "65" }],
    ["a text that has the wrong form as well", { STILE_CORS_ALLOW_ORIGINS: ["https://a.example/path"] }],
    [
      "an entry that follows one beyond a bound",
      { STILE_SAML_ALLOWED_REDIRECT_URLS: [`https://a.example/${"a".repeat(300)}`, "javascript:alert(1)"] },
    ],
    ["a secret that is too short", { SECRET_KEYS: "short" }],
    ["an unknown setting", { STILE_COLOUR: "red" }],
  ])("still stops the start for %s", (_, settings) => {
    expect(() =>
      load({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: ["https://*.*.*.example.com/"], ...settings }),
    ).toThrow();
  });
});
