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
  const rejection = (environment: Record<string, string>, file?: unknown): string => {
    try {
      load(environment, file);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as Error).message;
    }
    throw new Error("the configuration was accepted");
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

  it("derives the relying party from the public address, unless it is configured", () => {
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
    ["a port that is not a number", { PORT: "eighty" }, "PORT must be a whole number"],
    ["a number out of range", { PORT: "70000" }, "PORT (port): "],
    [
      "a length below the floor",
      { STILE_PASSWORD_MIN_LENGTH: "4" },
      "STILE_PASSWORD_MIN_LENGTH (password.min_length): ",
    ],
    [
      "a flag other than true and false",
      { STILE_EMAIL_ENABLED: "yes" },
      "STILE_EMAIL_ENABLED must be true or false",
    ],
    [
      "a choice that does not exist",
      { STILE_PASSKEY_ACQUIRE_ON_LOGIN: "often" },
      "STILE_PASSKEY_ACQUIRE_ON_LOGIN (passkey.acquire_on_login): ",
    ],
    [
      "a base URL without a scheme",
      { BASE_URL: "login.example.com" },
      "BASE_URL (base_url): has no scheme: it must begin with https://",
    ],
    [
      "a base URL of which the host would be the scheme",
      { BASE_URL: "localhost:3000" },
      "BASE_URL (base_url): has no scheme: it must begin with https://",
    ],
    [
      "a base URL of another scheme",
      { BASE_URL: "ftp://login.example.com" },
      "BASE_URL (base_url): must be an http:// or https:// address",
    ],
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
      "a proxy that is not a range",
      { STILE_SERVER_TRUSTED_PROXIES: "10.0.0.0/99" },
      "STILE_SERVER_TRUSTED_PROXIES (server.trusted_proxies): ",
    ],
    [
      "broken JSON",
      { STILE_CORS_ALLOW_ORIGINS: "[" },
      "STILE_CORS_ALLOW_ORIGINS must be a comma separated list or a JSON array",
    ],
    [
      "a name that does not exist",
      { STILE_PASWORD_MIN_LENGTH: "15" },
      "STILE_PASWORD_MIN_LENGTH (environment variable) is not a setting; the nearest is STILE_PASSWORD_MIN_LENGTH",
    ],
    ["a name like no other", { STILE_COLOUR: "red" }, "STILE_COLOUR (environment variable) is not a setting"],
    [
      "a member that does not exist in a variable of a section",
      { STILE_MFA: '{"optinal":false}' },
      "mfa.optinal (environment variable STILE_MFA) is not a setting; the nearest is mfa.optional",
    ],
    ["any origin", { STILE_CORS_ALLOW_ORIGINS: "*" }, "STILE_CORS_ALLOW_ORIGINS (cors.allow_origins): * "],
    [
      "a cookie for other sites without https",
      { STILE_SESSION_COOKIE_SAME_SITE: "none" },
      "STILE_SESSION_COOKIE_SAME_SITE (session.cookie.same_site) none ",
    ],
    [
      "codes that live too long",
      { STILE_EMAIL_PASSCODE_TTL: "11m" },
      "STILE_EMAIL_PASSCODE_TTL (email.passcode_ttl): must be between 0 and 600 seconds",
    ],
    [
      "a shortest length above the longest",
      { STILE_USERNAME_MIN_LENGTH: "33" },
      "STILE_USERNAME_MIN_LENGTH (username.min_length) is greater than ",
    ],
  ])("rejects %s with one line that names the setting", (_what, environment, beginning) => {
    const message = rejection(environment);
    expect(message.startsWith(beginning), message).toBe(true);
    expect(message).not.toContain("\n");
  });

  it.each<[string, Record<string, string>, string]>([
    ["an address with a path", { BASE_URL: "https://example.com/login" }, "BASE_URL must be an origin"],
    ["an address with a user", { BASE_URL: "https://ada@example.com" }, "BASE_URL must be an origin"],
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
      "a relying party of another site",
      { STILE_WEBAUTHN_RELYING_PARTY_ID: "example.org" },
      "STILE_WEBAUTHN_RELYING_PARTY_ID ",
    ],
    [
      "an origin with a slash",
      { STILE_CORS_ALLOW_ORIGINS: "https://example.org/" },
      "STILE_CORS_ALLOW_ORIGINS ",
    ],
    ["a frame in pages without TLS", { STILE_EMBED_ORIGINS: "http://shop.example" }, "STILE_EMBED_ORIGINS "],
    ["a frame in every page", { STILE_EMBED_ORIGINS: "*" }, "STILE_EMBED_ORIGINS "],
    [
      "a frame in pages of the machine, in production",
      { STILE_EMBED_ORIGINS: "http://localhost:4000", NODE_ENV: "production", SECRET_KEYS: "x".repeat(32) },
      "STILE_EMBED_ORIGINS ",
    ],
    ["an origin without a scheme", { STILE_CORS_ALLOW_ORIGINS: "example.org" }, "STILE_CORS_ALLOW_ORIGINS "],
    [
      "a redirect to any host",
      { STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://**/**" },
      "STILE_HOSTED_ALLOWED_REDIRECT_URLS ",
    ],
    [
      "no sign-in method",
      {
        STILE_PASSWORD_ENABLED: "false",
        STILE_PASSKEY_ENABLED: "false",
        STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
      },
      "no sign-in is possible",
    ],
    ["a host with a port", { STILE_SERVER_HOSTS: "example.org:80" }, "STILE_SERVER_HOSTS "],
    [
      "a relying party of the passkey server at another site",
      { STILE_PASSKEY_SERVER_RELYING_PARTY_ID: "example.org" },
      "STILE_PASSKEY_SERVER_RELYING_PARTY_ID ",
    ],
    [
      "every origin at the passkey server, without the setting that allows it",
      { STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: "*" },
      "STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD",
    ],
    ...["https://*", "https://*.*", "https://*:*", "HTTP://*:8080"].map(
      (spelling): [string, Record<string, string>, string] => [
        `every origin spelled ${spelling}`,
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
      "a QR code template without the token",
      { STILE_AUTHENTICATOR_QR_CODE_TEMPLATE: "https://app.example/{id}" },
      "STILE_AUTHENTICATOR_QR_CODE_TEMPLATE ",
    ],
    [
      "an empty push secret",
      { STILE_AUTHENTICATOR_PUSH_SECRET: "whsec_" },
      "STILE_AUTHENTICATOR_PUSH_SECRET ",
    ],
    [
      "a root that is not a certificate",
      { STILE_AUTHENTICATOR_ACCEPTED: '[{"aaid":"006F#0001","attestation":"full","roots":["AAAA"]}]' },
      "no certificate in PEM",
    ],
    [
      "a verified channel binding without certificates",
      { STILE_AUTHENTICATOR_CHANNEL_BINDING: "verify" },
      "STILE_AUTHENTICATOR_CHANNEL_BINDING (authenticator.channel_binding) verify and require need STILE_AUTHENTICATOR_TLS_CERTIFICATES (authenticator.tls_certificates)",
    ],
    [
      "full attestation without roots",
      { STILE_AUTHENTICATOR_ACCEPTED: '[{"aaid":"006F#0001","attestation":"full"}]' },
      "STILE_AUTHENTICATOR_ACCEPTED ",
    ],
  ])("rejects %s with a line that says why", (_, environment, line) => {
    expect(rejection(environment)).toContain(line);
  });

  it("normalizes the base URL, and accepts a relying party of another site with its own origins", () => {
    expect(load({ BASE_URL: "HTTPS://Login.Example.com/" }).base_url).toBe("https://login.example.com");
    const elsewhere = {
      BASE_URL: "https://login.example.com",
      STILE_WEBAUTHN_RELYING_PARTY_ID: "example.org",
      STILE_WEBAUTHN_RELYING_PARTY_ORIGINS: "https://app.example.org",
    };
    expect(load(elsewhere).webauthn.relying_party.id).toBe("example.org");
  });

  it.each<[string, unknown, string]>([
    ["that is not JSON", "{", "stile.config.json is not JSON: "],
    ["that does not hold an object", "[]", "stile.config.json does not hold an object"],
    [
      "with a name that does not exist",
      { pasword: {} },
      "pasword (stile.config.json) is not a setting; the nearest is password",
    ],
    [
      "with such a name in a section",
      { password: { minlength: 8 } },
      "password.minlength (stile.config.json) is not a setting; the nearest is password.min_length",
    ],
    ["with a wrong type", { port: "3000" }, "PORT (port): "],
  ])("rejects a file %s with one line", (_what, file, beginning) => {
    const message = rejection({}, file);
    expect(message.startsWith(beginning), message).toBe(true);
    expect(message).not.toContain("\n");
  });

  it("never repeats a secret in an error", () => {
    expect(rejection({ SECRET_KEYS: "tiny-secret" })).not.toContain("tiny-secret");
    expect(rejection({ DATABASE_URL: "postgre://user:hidden@host/db" })).not.toContain("hidden");
  });

  it("A125 rejects production without secrets", () => {
    expect(rejection({ NODE_ENV: "production" })).toMatch(/^SECRET_KEYS is missing: /);
    const config = load({ NODE_ENV: "production", SECRET_KEYS: "0123456789abcdef" });
    expect(config.mode).toBe("production");
  });

  it("accepts its own defaults", () => {
    const defaults = configSchema.parse({});
    expect(configSchema.parse(defaults)).toEqual(defaults);
  });

  describe("identity providers", () => {
    const acme = {
      display_name: "Acme",
      client_id: "stile",
      secret: "s",
      issuer: "https://id.acme.example",
    };

    it("are read from a JSON object or from one variable per leaf", () => {
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

    it("can be given as whole sections, which variables of single leaves override", () => {
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
      [
        "STILE_SAML_IDENTITY_PROVIDERS",
        '[{"name":"A","domains":["a.example"]}]',
        "needs metadata or metadata_url",
      ],
      ["STILE_MFA_DEVICE_TRUST_COOKIE_NAME", "service", "STILE_MFA_DEVICE_TRUST_COOKIE_NAME"],
    ])("are rejected with one line: %s=%s", (name, value, line) => {
      expect(rejection({ [name]: value })).toContain(line);
      expect(rejection({ [name]: value })).not.toContain("\n");
    });

    it("need no secret where Apple's private key replaces it", () => {
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
