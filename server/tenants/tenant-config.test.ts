import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { createVault } from "../keys/vault.ts";
import { openSettings, sealSettings } from "./sealed-settings.ts";
import { type TenantSettings, tenantConfig } from "./tenant-config.ts";

const id = randomUUID();
const server = loadConfig(
  {
    BASE_URL: "https://login.example.com:8443",
    STILE_USERNAME_ENABLED: "true",
    STILE_PASSWORD_MIN_LENGTH: "15",
    STILE_SESSION_LIFESPAN: "1h",
    STILE_SESSION_COOKIE_NAME: "__Host-service",
    STILE_MFA_DEVICE_TRUST_COOKIE_NAME: "__Host-device",
    STILE_SESSION_AUDIENCE: "the server's application",
    STILE_SESSION_ISSUER: "https://issuer.example",
    STILE_WEBAUTHN_RELYING_PARTY_ID: "example.com",
    STILE_CORS_ALLOW_ORIGINS: "https://app.example.com",
    STILE_EMBED_ORIGINS: "https://app.example.com",
    STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://app.example.com/**",
    STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
    STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "the server's client",
    STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "the server's secret",
  },
  "/nowhere",
);

const configOf = (given: Partial<TenantSettings> = {}) =>
  tenantConfig(server, { id, name: "Acme", hosts: [], settings: {}, ...given });

describe("a tenant's configuration", () => {
  test("is the server's, overridden by its own settings", () => {
    const config = configOf({ settings: { password: { min_length: 20 }, session: { lifespan: "2h" } } });
    expect(config.username).toEqual({ ...server.username, enabled: true });
    expect(config.password).toEqual({ ...server.password, min_length: 20 });
    expect(config.session).toMatchObject({ lifespan: 7200, limit: server.session.limit });
    expect(config).toMatchObject({ mode: server.mode, data_dir: server.data_dir, port: server.port });
  });

  test("uses the tenant's name as the service name by default", () => {
    expect(configOf().service.name).toBe("Acme");
    expect(configOf().webauthn.relying_party.display_name).toBe("Acme");
    expect(configOf({ settings: { service: { name: "Acme Sign-in" } } }).service.name).toBe("Acme Sign-in");
  });

  test("A68 does not inherit the parties that the default tenant trusts", () => {
    const { cors, embed, hosted, third_party, saml, session } = configOf();
    expect(cors.allow_origins).toEqual([]);
    expect(embed.origins).toEqual([]);
    expect(hosted.allowed_redirect_urls).toEqual([]);
    expect(third_party.providers.google).toMatchObject({ enabled: false, client_id: "" });
    expect(JSON.stringify(third_party)).not.toContain("the server's");
    expect(saml.identity_providers).toEqual([]);
    expect(session.issuer).toBe("");
  });

  test("has a base URL, an audience and cookie names of its own under a path", () => {
    const config = configOf();
    expect(config.base_url).toBe(`https://login.example.com:8443/t/${id}`);
    expect(config.session.audience).toEqual([id]);
    expect(config.webauthn.relying_party).toMatchObject({
      id: "login.example.com",
      origins: ["https://login.example.com:8443"],
    });
    // Browsers reject `__Host-` cookies with a path.
    expect(config.session.cookie.name).toBe("__Secure-service");
    expect(config.mfa.device_trust_cookie_name).toBe("__Secure-device");
  });

  test("uses its host name with the server's scheme and port", () => {
    const config = configOf({ hosts: ["sign-in.acme.example", "old.acme.example"] });
    expect(config.base_url).toBe("https://sign-in.acme.example:8443");
    expect(config.webauthn.relying_party).toMatchObject({
      id: "sign-in.acme.example",
      origins: ["https://sign-in.acme.example:8443"],
    });
    expect(config.session.audience).toEqual([]);
    expect(config.session.cookie.name).toBe("__Host-service");
  });

  test.each([
    ["port", { port: 1 }],
    ["base_url", { base_url: "https://elsewhere.example" }],
    ["database_url", { database_url: "postgres://localhost/x" }],
    ["secret_keys", { secret_keys: ["sixteen characters"] }],
    ["log", { log: { level: "debug" } }],
    ["jobs", { jobs: {} }],
    ["server", { server: { hosts: [] } }],
    ["database", { database: { pool_size: 1 } }],
    ["rate_limiter", { rate_limiter: { enabled: false } }],
    ["password.pepper", { password: { pepper: "sixteen characters" } }],
    ["password.hash", { password: { hash: { passes: 1 } } }],
  ])("cannot override %s, a setting of the server", (path, settings) => {
    const { ignored, sources: _, ...config } = configOf({ settings });
    expect(ignored).toMatchObject([
      {
        line: `${path} is a setting of the server: a tenant cannot have its own; it is ignored`,
        unknown: path.split("."),
      },
    ]);
    const { ignored: _ignored, sources: _sources, ...plain } = configOf({ settings: {} });
    expect(config).toEqual(plain);
  });

  test.each([
    [{ password: { min_length: 3 } }, /^STILE_PASSWORD_MIN_LENGTH \(password\.min_length\): /],
    [
      { username: { min_length: 40 } },
      /^STILE_USERNAME_MIN_LENGTH \(username\.min_length\) is greater than STILE_USERNAME_MAX_LENGTH \(username\.max_length\)$/,
    ],
    [{ session: { cookie: { domain: "other.example" } } }, /^STILE_SESSION_COOKIE_/],
    [{ cors: { allow_origins: ["*"] } }, /^STILE_CORS_ALLOW_ORIGINS /],
    [{ mfa: "yes" }, /^mfa: /],
  ])("is validated like the server's: %j", (settings, message) => {
    expect(() => configOf({ settings })).toThrow(message);
  });
});

describe("stored settings of a tenant", () => {
  const vault = createVault(["a key that seals settings"]);
  const settings = {
    smtp_url: "smtp://acme:hush@mail.acme.example",
    third_party: {
      providers: { google: { enabled: true, client_id: "acme", secret: "hush-google" } },
      custom_providers: {
        acme: {
          display_name: "Acme",
          client_id: "acme",
          secret: "hush-custom",
          issuer: "https://id.acme.example",
        },
      },
    },
    password: { min_length: 20 },
  };

  test("seal the secrets, and only these", () => {
    const stored = sealSettings(vault, id, settings, {});
    expect(JSON.stringify(stored.config)).not.toContain("hush-");
    expect(stored.config).toMatchObject({
      third_party: {
        providers: { google: { enabled: true, client_id: "acme" } },
        custom_providers: { acme: { issuer: "https://id.acme.example" } },
      },
      password: { min_length: 20 },
    });
    expect(stored.sealedConfig?.toString("latin1")).not.toContain("hush-");
    expect(openSettings(vault, id, stored)).toEqual(settings);
  });

  test("seal nothing if they have no secrets", () => {
    expect(sealSettings(vault, id, { password: { min_length: 20 } }, {})).toEqual({
      config: { password: { min_length: 20 } },
      sealedConfig: null,
    });
  });

  test("stay sealed where they were, and plain where this version does not know them", () => {
    const of = {
      password: { min_length: 20, rounds: 3, salt: "hush" },
      mfa: { optional: false },
      constructor: "x",
    };
    const sealed = { mfa: { optional: true }, password: { salt: "former" }, gone: "secret" };
    const stored = sealSettings(vault, id, of, sealed);
    expect(stored.config).toEqual({ password: { min_length: 20, rounds: 3 }, mfa: {}, constructor: "x" });
    expect(openSettings(vault, id, stored)).toEqual(of);
  });

  test("have every name, `__proto__` included, as data", () => {
    const of = JSON.parse('{"mfa":{"__proto__":{"optional":false}},"__proto__":{"port":1}}');
    const stored = sealSettings(vault, id, of, {});
    expect(JSON.stringify(openSettings(vault, id, stored))).toBe(JSON.stringify(of));
    expect(() => configOf({ settings: { ...of, password: "x" } })).toThrow(/^password: /);
    expect(configOf({ settings: of })).toMatchObject({ port: 3000, mfa: { optional: true } });
    expect(configOf({ settings: of }).ignored.map(({ unknown }) => unknown)).toEqual([
      ["mfa", "__proto__"],
      ["__proto__"],
    ]);
  });

  test("A68 cannot be unsealed for another tenant", () => {
    const stored = sealSettings(vault, id, settings, {});
    expect(() => openSettings(vault, randomUUID(), stored)).toThrow("belongs to another context");
  });
});
