import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "./errors.ts";
import { configLeaves, loadConfig } from "./load.ts";
import { configSchema } from "./schema.ts";

describe("the configuration", () => {
  let folder: string;
  const load = (environment: Record<string, string> = {}, file?: unknown) => {
    if (file !== undefined) {
      const content = typeof file === "string" ? file : JSON.stringify(file);
      writeFileSync(join(folder, "stile.config.json"), content);
    }
    return loadConfig(environment, folder);
  };
  const refusal = (environment: Record<string, string>, file?: unknown): string => {
    try {
      load(environment, file);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as Error).message;
    }
    throw new Error("the configuration was not refused");
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stile config "));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it.each(configLeaves())(
    "describes $variable, and has a default for it or says what its absence means",
    (leaf) => {
      expect(leaf.description).toMatch(/^[A-Za-z].*\.$/);
      if (leaf.default === undefined) expect(leaf.description).toMatch(/Default: |Without /);
    },
  );

  it("gives every leaf a name of its own in the environment", () => {
    const names = configLeaves().map((leaf) => leaf.variable);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([
        "PORT",
        "SECRET_KEYS",
        "STILE_PASSWORD_MIN_LENGTH",
        "STILE_SESSION_COOKIE_NAME",
      ]),
    );
    expect(names.filter((name) => !/^[A-Z][A-Z_]*$/.test(name))).toEqual([]);
  });

  it("needs no setting at all", () => {
    const config = load();
    expect(config).toMatchObject({
      mode: "development",
      port: 3000,
      base_url: "http://localhost:3000",
      data_dir: join(folder, "data"),
      tenant: { id: "00000000-0000-4000-8000-000000000001" },
      webauthn: {
        relying_party: { id: "localhost", display_name: "Stile", origins: ["http://localhost:3000"] },
      },
    });
  });

  it("lets the file win over the default and the environment over the file, leaf by leaf", () => {
    const file = {
      password: { min_length: 15, max_length: 100 },
      port: 4000,
      cors: { allow_origins: ["https://a.example"] },
    };
    const config = load({ STILE_PASSWORD_MIN_LENGTH: "12", PORT: "" }, file);
    expect(config.password).toMatchObject({ min_length: 12, max_length: 100, recovery: true });
    expect(config.port).toBe(4000);
    expect(config.cors.allow_origins).toEqual(["https://a.example"]);
  });

  it.each([
    ["45", 45],
    ["90s", 90],
    ["5m", 300],
    ["12h", 43_200],
    ["30d", 2_592_000],
  ])("reads the duration %s as %i seconds", (text, seconds) => {
    expect(load({ STILE_SESSION_LIFESPAN: text }).session.lifespan).toBe(seconds);
    expect(load({}, { session: { lifespan: text } }).session.lifespan).toBe(seconds);
  });

  it("takes lists separated by commas, and as JSON arrays", () => {
    expect(
      load({ STILE_CORS_ALLOW_ORIGINS: "https://a.example, https://b.example" }).cors.allow_origins,
    ).toEqual(["https://a.example", "https://b.example"]);
    expect(
      load({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: '["https://a.example/?a,b"]' }).hosted.allowed_redirect_urls,
    ).toEqual(["https://a.example/?a,b"]);
    expect(load({ SECRET_KEYS: "first-key-first-key,second-key-second-key" }).secret_keys).toHaveLength(2);
  });

  it("derives the relying party from the public address, unless it is named", () => {
    const address = { BASE_URL: "https://login.example.com/" };
    expect(load(address).base_url).toBe("https://login.example.com");
    expect(load(address).webauthn.relying_party).toMatchObject({
      id: "login.example.com",
      origins: ["https://login.example.com"],
    });
    expect(
      load({ ...address, STILE_WEBAUTHN_RELYING_PARTY_ID: "example.com" }).webauthn.relying_party.id,
    ).toBe("example.com");
  });

  it.each<[string, Record<string, string>, string]>([
    ["no number", { PORT: "eighty" }, "PORT is not a whole number"],
    ["a number out of range", { PORT: "70000" }, "PORT (port): "],
    [
      "a length below the floor",
      { STILE_PASSWORD_MIN_LENGTH: "4" },
      "STILE_PASSWORD_MIN_LENGTH (password.min_length): ",
    ],
    ["neither true nor false", { STILE_EMAIL_ENABLED: "yes" }, "STILE_EMAIL_ENABLED is not true or false"],
    [
      "a choice that does not exist",
      { STILE_PASSKEY_ACQUIRE_ON_LOGIN: "often" },
      "STILE_PASSKEY_ACQUIRE_ON_LOGIN (passkey.acquire_on_login): ",
    ],
    ["an address that is none", { BASE_URL: "login.example.com" }, "BASE_URL (base_url): "],
    [
      "another database",
      { DATABASE_URL: "mysql://localhost/stile" },
      "DATABASE_URL (database_url): is not a postgres:// address",
    ],
    ["a duration in weeks", { STILE_FLOW_LIFETIME: "1w" }, "STILE_FLOW_LIFETIME (flow.lifetime): "],
    [
      "a short secret",
      { SECRET_KEYS: "short" },
      "SECRET_KEYS (secret_keys): needs at least 16 characters each",
    ],
    [
      "a proxy that is no range",
      { STILE_SERVER_TRUSTED_PROXIES: "10.0.0.0/99" },
      "STILE_SERVER_TRUSTED_PROXIES (server.trusted_proxies): ",
    ],
    [
      "broken JSON",
      { STILE_CORS_ALLOW_ORIGINS: "[" },
      "STILE_CORS_ALLOW_ORIGINS is not a comma separated list or a JSON array",
    ],
    [
      "a name that does not exist",
      { STILE_PASWORD_MIN_LENGTH: "15" },
      "STILE_PASWORD_MIN_LENGTH is not a setting",
    ],
    ["any origin", { STILE_CORS_ALLOW_ORIGINS: "*" }, "STILE_CORS_ALLOW_ORIGINS * "],
    [
      "a cookie for other sites without https",
      { STILE_SESSION_COOKIE_SAME_SITE: "none" },
      "STILE_SESSION_COOKIE_SAME_SITE none ",
    ],
    [
      "codes that live too long",
      { STILE_EMAIL_PASSCODE_TTL: "11m" },
      "STILE_EMAIL_PASSCODE_TTL is longer than 10 minutes",
    ],
    [
      "lengths that exclude each other",
      { STILE_USERNAME_MIN_LENGTH: "33" },
      "STILE_USERNAME_MIN_LENGTH is greater than ",
    ],
  ])("refuses %s with one line that names it", (_what, environment, beginning) => {
    const message = refusal(environment);
    expect(message.startsWith(beginning), message).toBe(true);
    expect(message).not.toContain("\n");
  });

  it.each<[string, Record<string, string>, string]>([
    ["an address with a path", { BASE_URL: "https://example.com/login" }, "BASE_URL has a path"],
    [
      "an address with a user",
      { BASE_URL: "https://ada@example.com" },
      "BASE_URL has a path, a query or a user",
    ],
    [
      "a cookie for another site",
      { STILE_SESSION_COOKIE_DOMAIN: "example.org" },
      "STILE_SESSION_COOKIE_DOMAIN ",
    ],
    [
      "a host's own cookie over http",
      { STILE_SESSION_COOKIE_NAME: "__Host-service" },
      "STILE_SESSION_COOKIE_NAME ",
    ],
    [
      "a relying party elsewhere",
      { STILE_WEBAUTHN_RELYING_PARTY_ID: "example.org" },
      "STILE_WEBAUTHN_RELYING_PARTY_ID ",
    ],
    [
      "an origin with a slash",
      { STILE_CORS_ALLOW_ORIGINS: "https://example.org/" },
      "STILE_CORS_ALLOW_ORIGINS ",
    ],
    ["an origin without a scheme", { STILE_CORS_ALLOW_ORIGINS: "example.org" }, "STILE_CORS_ALLOW_ORIGINS "],
    [
      "a way back to anywhere",
      { STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://**/**" },
      "STILE_HOSTED_ALLOWED_REDIRECT_URLS ",
    ],
    [
      "no way in",
      {
        STILE_PASSWORD_ENABLED: "false",
        STILE_PASSKEY_ENABLED: "false",
        STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
      },
      "nobody could sign in",
    ],
    ["a host with a port", { STILE_SERVER_HOSTS: "example.org:80" }, "STILE_SERVER_HOSTS "],
    [
      "a relying party of the passkey server elsewhere",
      { STILE_PASSKEY_SERVER_RELYING_PARTY_ID: "example.org" },
      "STILE_PASSKEY_SERVER_RELYING_PARTY_ID ",
    ],
    [
      "every origin at the passkey server, when nobody said that it is meant",
      { STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: "*" },
      "STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD",
    ],
    ...["https://*", "https://*.*", "https://*:*", "HTTP://*:8080"].map(
      (spelling): [string, Record<string, string>, string] => [
        `the same, spelled ${spelling}`,
        { STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: spelling },
        "STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD",
      ],
    ),
    [
      "challenges of the passkey server that live for an hour",
      { STILE_PASSKEY_SERVER_TIMEOUT: "1h" },
      "STILE_PASSKEY_SERVER_TIMEOUT",
    ],
    [
      "authenticator requests that live for an hour",
      { STILE_AUTHENTICATOR_REQUEST_TTL: "1h" },
      "STILE_AUTHENTICATOR_REQUEST_TTL ",
    ],
    [
      "a QR code that says nothing of its request",
      { STILE_AUTHENTICATOR_QR_CODE_TEMPLATE: "https://app.example/{id}" },
      "STILE_AUTHENTICATOR_QR_CODE_TEMPLATE ",
    ],
    [
      "a QR code that nobody could scan",
      { STILE_AUTHENTICATOR_QR_CODE_TEMPLATE: `{url}${"#".repeat(1000)}` },
      "STILE_AUTHENTICATOR_QR_CODE_TEMPLATE ",
    ],
    [
      "a secret with nothing in it",
      { STILE_AUTHENTICATOR_PUSH_SECRET: "whsec_" },
      "STILE_AUTHENTICATOR_PUSH_SECRET ",
    ],
    [
      "a root that is no certificate",
      { STILE_AUTHENTICATOR_ACCEPTED: '[{"aaid":"006F#0001","attestation":"full","roots":["AAAA"]}]' },
      "no certificate in PEM",
    ],
    [
      "an authenticator whose attestation leads nowhere",
      { STILE_AUTHENTICATOR_ACCEPTED: '[{"aaid":"006F#0001","attestation":"full"}]' },
      "STILE_AUTHENTICATOR_ACCEPTED ",
    ],
  ])("refuses %s, which could not work", (_, environment, line) => {
    expect(refusal(environment)).toContain(line);
  });

  it("takes an address in any spelling, and a relying party of another site with origins of its own", () => {
    expect(load({ BASE_URL: "HTTPS://Login.Example.com/" }).base_url).toBe("https://login.example.com");
    const elsewhere = {
      BASE_URL: "https://login.example.com",
      STILE_WEBAUTHN_RELYING_PARTY_ID: "example.org",
      STILE_WEBAUTHN_RELYING_PARTY_ORIGINS: "https://app.example.org",
    };
    expect(load(elsewhere).webauthn.relying_party.id).toBe("example.org");
  });

  it.each<[string, unknown, string]>([
    ["that is no JSON", "{", "stile.config.json is not JSON: "],
    ["that holds no object", "[]", "stile.config.json does not hold an object"],
    ["with a name that does not exist", { pasword: {} }, "pasword is not a setting"],
    ["with such a name in a section", { password: { minlength: 8 } }, "password.minlength is not a setting"],
    ["with a wrong type", { port: "3000" }, "PORT (port): "],
  ])("refuses a file %s with one line", (_what, file, beginning) => {
    const message = refusal({}, file);
    expect(message.startsWith(beginning), message).toBe(true);
    expect(message).not.toContain("\n");
  });

  it("never repeats a secret in what it refuses", () => {
    expect(refusal({ SECRET_KEYS: "tiny-secret" })).not.toContain("tiny-secret");
    expect(refusal({ DATABASE_URL: "postgre://user:hidden@host/db" })).not.toContain("hidden");
  });

  it("A125 refuses production without secrets, and takes it with them", () => {
    expect(refusal({ NODE_ENV: "production" })).toMatch(/^SECRET_KEYS is missing: /);
    const config = load({ NODE_ENV: "production", SECRET_KEYS: "0123456789abcdef" });
    expect(config.mode).toBe("production");
  });

  it("holds every default that its own schema accepts", () => {
    expect(() => configSchema.parse(configSchema.parse({}))).not.toThrow();
  });

  describe("identity providers", () => {
    const acme = {
      display_name: "Acme",
      client_id: "stile",
      secret: "s",
      issuer: "https://id.acme.example",
    };

    it("are objects in JSON, or one variable for each leaf, and mean the same", () => {
      const json = load({ STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({ acme }) });
      const leaves = load({
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_DISPLAY_NAME: "Acme",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_CLIENT_ID: "stile",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_SECRET: "s",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_ISSUER: "https://id.acme.example",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_USE_DISCOVERY: "true",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_SCOPES: "openid, email, profile",
      });
      expect(leaves.third_party).toEqual(json.third_party);
      expect(json.third_party.custom_providers.acme).toMatchObject({ ...acme, allow_linking: false });
    });

    it("may be given as whole sections, of which a leaf of its own may say otherwise", () => {
      const config = load({
        STILE_MFA: '{"optional":false,"totp":{"enabled":false}}',
        STILE_MFA_TOTP: '{"enabled":true}',
        STILE_THIRD_PARTY_PROVIDERS: '{"google":{"enabled":true,"client_id":"us","secret":"s"}}',
        STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "others",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({ acme }),
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_ENABLED: "false",
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_ATTRIBUTE_MAPPING_EMAIL: "mail",
      });
      expect(config.mfa).toMatchObject({ optional: false, totp: { enabled: true } });
      expect(config.third_party.providers.google).toMatchObject({ enabled: true, client_id: "others" });
      const { acme: provider } = config.third_party.custom_providers;
      expect(provider).toMatchObject({ enabled: false, attribute_mapping: { email: "mail" } });
    });

    it.each([
      ["STILE_THIRD_PARTY_CUSTOM_PROVIDERS_ACME_SECERT", "x", "is not a setting"],
      ["STILE_THIRD_PARTY_CUSTOM_PROVIDERS_SECRET", "x", "is not a setting"],
      ["STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED", "true", "STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID"],
      ["STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS", "*", "STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS"],
      ["STILE_SAML_IDENTITY_PROVIDERS", '[{"name":"A","domains":["a.example"]}]', "neither metadata"],
      ["STILE_MFA_DEVICE_TRUST_COOKIE_NAME", "service", "STILE_MFA_DEVICE_TRUST_COOKIE_NAME"],
    ])("stop the start with one line: %s=%s", (name, value, line) => {
      expect(refusal({ [name]: value })).toContain(line);
      expect(refusal({ [name]: value })).not.toContain("\n");
    });

    it("need no secret where Apple's key makes one", () => {
      const config = load({
        STILE_THIRD_PARTY_PROVIDERS_APPLE_ENABLED: "true",
        STILE_THIRD_PARTY_PROVIDERS_APPLE_CLIENT_ID: "com.example.stile",
        STILE_THIRD_PARTY_PROVIDERS_APPLE_TEAM_ID: "TEAM",
        STILE_THIRD_PARTY_PROVIDERS_APPLE_KEY_ID: "KEY",
        STILE_THIRD_PARTY_PROVIDERS_APPLE_PRIVATE_KEY: "key",
      });
      expect(config.third_party.providers.apple.enabled).toBe(true);
    });
  });
});
