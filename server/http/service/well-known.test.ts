import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { Tree } from "../../lib/tree.ts";
import { uselessSettings } from "../../start/useless-settings.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { visitor } from "../../testing/visitor.ts";
import { ceremonyOrigins } from "../../webauthn/origins.ts";

const fingerprint = Array.from({ length: 32 }, (_, index) => (index + 160).toString(16)).join(":");
const android = { package_name: "com.example.app", sha256_cert_fingerprints: [fingerprint] };
const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();

const configured: Tree = {
  security_txt: {
    contact: ["mailto:security@example.com", "https://example.com/report"],
    expires: inAMonth,
    policy: "https://example.com/policy",
    preferred_languages: ["en", "de"],
  },
  apple_apps: ["A1B2C3D4E5.com.example.app"],
  android_apps: [android],
};

const variables = {
  STILE_WELL_KNOWN_SECURITY_TXT_CONTACT: "mailto:security@example.com,https://example.com/report",
  STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES: inAMonth,
  STILE_WELL_KNOWN_SECURITY_TXT_POLICY: "https://example.com/policy",
  STILE_WELL_KNOWN_SECURITY_TXT_PREFERRED_LANGUAGES: "en,de",
  STILE_WELL_KNOWN_APPLE_APPS: "A1B2C3D4E5.com.example.app",
  STILE_WELL_KNOWN_ANDROID_APPS: JSON.stringify([android]),
};

const files = ["security.txt", "apple-app-site-association", "assetlinks.json"];

const runtime = await runtimeForTests({ BASE_URL: "https://login.example.com" });

const ask = (file: string, settings: Record<string, string> = {}) =>
  visitor(runtime.configured(settings)).request(`/.well-known/${file}`);

test("change-password leads to the account page, and does not exist without passwords", async () => {
  const led = await ask("change-password");
  expect([led.status, led.headers.get("location")]).toEqual([303, "/account"]);
  expect((await ask("change-password", { STILE_PASSWORD_ENABLED: "false" })).status).toBe(404);
  // Clients compare with this address to learn whether status codes are true (W3C Change Password URL, 2.2).
  expect((await ask("resource-that-should-not-exist-whose-status-code-should-not-be-200")).status).toBe(404);
});

test("passkey-endpoints names the account page, and does not exist without passkeys", async () => {
  const response = await ask("passkey-endpoints");
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
  const account = "https://login.example.com/account";
  expect(await response.json()).toEqual({ enroll: account, manage: account });
  expect((await ask("passkey-endpoints", { STILE_PASSKEY_ENABLED: "false" })).status).toBe(404);
});

describe("a file of the host", () => {
  test.each(files)("%s does not exist where it is not configured", async (file) => {
    const response = await ask(file);
    expect(response.status).toBe(404);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("security.txt has the configured fields (RFC 9116)", async () => {
    const response = await ask("security.txt", variables);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
    expect((await response.text()).split("\n")).toEqual([
      "Contact: mailto:security@example.com",
      "Contact: https://example.com/report",
      `Expires: ${inAMonth.replace(/\.\d+Z/, "Z")}`,
      "Preferred-Languages: en, de",
      "Canonical: https://login.example.com/.well-known/security.txt",
      "Policy: https://example.com/policy",
      "",
    ]);
  });

  test("security.txt does not exist once it is stale, and the log of a start says so", async () => {
    const stale = { ...variables, STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES: "2020-01-01T00:00:00Z" };
    expect((await ask("security.txt", stale)).status).toBe(404);
    expect(uselessSettings(loadConfig(stale, "/nowhere")).join()).toContain("/.well-known/security.txt");
    expect(uselessSettings(loadConfig(variables, "/nowhere"))).toEqual([]);
  });

  test("apple-app-site-association and assetlinks.json name the applications", async () => {
    const apple = await ask("apple-app-site-association", variables);
    expect(apple.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await apple.json()).toEqual({ webcredentials: { apps: ["A1B2C3D4E5.com.example.app"] } });
    const links = await ask("assetlinks.json", variables);
    expect(links.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(links.headers.get("cache-control")).toBe("public, max-age=3600");
    const credentials = "delegate_permission/common.get_login_creds";
    const target = {
      namespace: "android_app",
      package_name: "com.example.app",
      sha256_cert_fingerprints: [fingerprint.toUpperCase()],
    };
    expect(await links.json()).toEqual([{ relation: [credentials], target }]);
    const opening = JSON.stringify([{ ...android, opens_links: true }]);
    const opened = await ask("assetlinks.json", { STILE_WELL_KNOWN_ANDROID_APPS: opening });
    expect((await opened.json())[0].relation).toEqual([
      credentials,
      "delegate_permission/common.handle_all_urls",
    ]);
  });

  test("an application for Android may run passkey ceremonies", () => {
    const { config } = runtime.configured(variables);
    const hash = Buffer.from(fingerprint.replaceAll(":", ""), "hex").toString("base64url");
    expect(ceremonyOrigins(config)).toEqual(["https://login.example.com", `android:apk-key-hash:${hash}`]);
  });
});

describe("a tenant", () => {
  const make = async (hosts: string[], settings: Tree) => {
    const { id } = await createTenant(runtime, { name: "Acme", hosts, settings });
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the created tenant was not found");
    return tenant;
  };

  test("with a host has files of its own", async () => {
    const tenant = await make(["login.acme.example"], { well_known: configured });
    const { request } = tenantVisitor(runtime, tenant);
    for (const file of files) expect((await request(`/.well-known/${file}`)).status).toBe(200);
    expect(await (await request("/.well-known/security.txt")).text()).toContain(
      "Canonical: https://login.acme.example/.well-known/security.txt\n",
    );
    const endpoints = await (await request("/.well-known/passkey-endpoints")).json();
    expect(endpoints.enroll).toBe("https://login.acme.example/account");
  });

  test("does not inherit the applications that the server trusts", async () => {
    const serving = runtime.configured(variables);
    const tenant = await make(["login.globex.example"], {});
    const { request } = tenantVisitor(serving, tenant);
    expect((await request("/.well-known/assetlinks.json")).status).toBe(404);
    expect((await request("/.well-known/apple-app-site-association")).status).toBe(404);
    expect(ceremonyOrigins(tenant.config)).toEqual(["https://login.globex.example"]);
  });

  test("under a path leads to its own account page, and says nothing of the host", async () => {
    const tenant = await make([], { well_known: configured });
    const { request } = tenantVisitor(runtime, tenant);
    const led = await request("/.well-known/change-password");
    expect(led.headers.get("location")).toBe(`/t/${tenant.id}/account`);
    const { manage } = await (await request("/.well-known/passkey-endpoints")).json();
    expect(manage).toBe(`https://login.example.com/t/${tenant.id}/account`);
    for (const file of files) expect((await request(`/.well-known/${file}`)).status).toBe(404);
  });
});

describe("settings", () => {
  test.each([
    ["a contact without its kind", "SECURITY_TXT_CONTACT", "security@example.com", "must be a URI: https://"],
    ["a contact of two lines", "SECURITY_TXT_CONTACT", "https://a.example/\nPolicy:x", "must be a URI"],
    ["a contact over http", "SECURITY_TXT_CONTACT", "http://example.com", "must be a URI: https://"],
    ["a policy over http", "SECURITY_TXT_POLICY", "http://example.com", "must begin with https://"],
    ["a day", "SECURITY_TXT_EXPIRES", "2027-01-31", "must be a time such as"],
    ["a bundle without a team", "APPLE_APPS", "com.example.app", "must be a team and a bundle"],
    [
      "a short fingerprint",
      "ANDROID_APPS",
      '[{"package_name":"a.b","sha256_cert_fingerprints":["AB"]}]',
      "SHA-256",
    ],
    ["no fingerprint", "ANDROID_APPS", '[{"package_name":"a.b","sha256_cert_fingerprints":[]}]', ">=1 items"],
  ])("reject %s", (_what, name, value, message) => {
    expect(() => loadConfig({ [`STILE_WELL_KNOWN_${name}`]: value }, "/nowhere")).toThrow(message);
  });

  test("reject contacts without the time at which they become stale", () => {
    const { STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES: _, ...rest } = variables;
    expect(() => loadConfig(rest, "/nowhere")).toThrow("STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES");
  });
});
