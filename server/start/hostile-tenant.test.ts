import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { flowClient } from "../testing/flow-client.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { startServer } from "../testing/server.ts";
import { runStile } from "../testing/stile.ts";

/**
 * Two tenants of one running server. One has the slowest settings that fit the bounds, and those of a row from before
 * there were bounds; it is attacked by them while the other signs its users in.
 */

const settings = {
  service: { name: "x".repeat(64) },
  email: { require_verification: false },
  mfa: { acquire_on_registration: false },
  session: {
    enable_auth_token_header: true,
    jwt_template: {
      claims: {
        role: "user",
        dots: "{{.}}".repeat(800),
        hidden: `{{if eq ${"(print .User) ".repeat(280)}}}x{{end}}`,
        paths: `{{if and ${'(.User.Metadata.Public "a.#.#.#.#") '.repeat(90)}}}x{{end}}`,
        ...Object.fromEntries(Array.from({ length: 46 }, (_, at) => [`c${at}`, "{{if .}}{{.}}{{end}}"])),
      },
    },
  },
  passkey_server: {
    cors: {
      allowed_origins: [
        ...Array.from({ length: 49 }, (_, at) => `https://*-*-${at}x.example`),
        ...Array.from({ length: 50 }, (_, at) => `https://*${"-".repeat(200)}*-${at}x.example`),
        "https://*.good.example",
      ],
    },
  },
};
const origins = [
  `https://${"-".repeat(190)}`,
  `https://${"-".repeat(230)}x.example`,
  `https://${"a-".repeat(115)}x.example`,
];
const urls = [1_900, 1_000, 500, 100].map(
  (length) => `https://app.example/${"a".repeat(length)}/${"a".repeat(1_975 - length)}bz`,
);
const hosted = {
  allowed_redirect_urls: [
    "https://app.example/first/*",
    ...Array.from({ length: 49 }, (_, at) => `https://app.example/*a*${"a".repeat(at + 1)}*b*z`),
    ...Array.from({ length: 49 }, (_, at) => `https://app.example/*${"a".repeat(150 + at)}*a*b*z`),
    "https://app.example/good/*",
  ],
};
/** What the row of the tenant has beyond the bounds, from before they were made. */
const beyond = {
  passkey_server: {
    cors: {
      allowed_origins: [
        "https://*-*-*-*-*-x.example",
        ...settings.passkey_server.cors.allowed_origins.slice(1),
      ],
    },
  },
  hosted: {
    allowed_redirect_urls: [
      `https://app.example/${"*/".repeat(1_000)}`,
      ...hosted.allowed_redirect_urls.slice(1),
    ],
  },
};

const cli = async (...words: string[]) => {
  const { code, out, err } = await runStile(words, { cwd: server.dataDir, env: server.environment });
  if (code !== 0) throw new Error(err);
  return out.trim();
};
const admin = async (method: string, path: string, body: unknown) => {
  const response = await fetch(`${attacker.base}/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${attacker.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
};

const database = await openForTests(testDatabase());
const env = {
  DATABASE_URL: database.url,
  STILE_RATE_LIMITER_ENABLED: "false",
  STILE_SESSION_ALGORITHM: "ES256",
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
};
const server = await openForTests(startServer({ env }));
const baseOf = (id: string) => `${server.url}/t/${id}`;
const [one, other] = [
  await cli("tenants", "create", "--name", "Attacker"),
  await cli("tenants", "create", "--name", "Victim"),
];
const key = (await cli("keys", "create", "--interface", "admin", "--tenant", one)).split("\n").at(-1) ?? "";
const attacker = { id: one, base: baseOf(one), key };
const victim = { id: other, base: baseOf(other) };

/** Registers an account of a tenant; returns its password and the token of its session. */
async function register(base: string): Promise<{ email: string; token: string }> {
  const client = flowClient(base);
  const email = `${randomUUID()}@example.com`;
  await client.start("registration");
  await client.act("register_client_capabilities");
  await client.act("register_login_identifier", { email });
  const { state, headers } = await client.act("register_password", {
    new_password: "seven herons over the lake",
  });
  expect(state.name).toBe("success");
  return { email, token: headers.get("x-auth-token") ?? "" };
}

/** Performs an attack many times at once, while an account of the other tenant is registered. */
async function underAttack(attack: () => Promise<void>): Promise<void> {
  const attacks = Promise.all(Array.from({ length: 40 }, attack));
  await register(victim.base);
  const health = await fetch(`${victim.base}/health/alive`);
  expect(health.status).toBe(200);
  await attacks;
}

describe.each([
  ["at the bounds", false],
  ["from before there were bounds", true],
])("settings %s", (_, isOld) => {
  beforeAll(async () => {
    for (const config of [settings, { hosted }]) {
      const { status, text } = await admin("PATCH", "/tenant", { config });
      expect([status, text]).toEqual([200, expect.any(String)]);
    }
    if (!isOld) return;
    const { rowCount } = await database.database.write.$client.query(
      `update tenants set updated_at = clock_timestamp() + interval '1 s',
         config = jsonb_set(jsonb_set(config, '{hosted}', $2), '{passkey_server}', $3) where id = $1`,
      [attacker.id, JSON.stringify(beyond.hosted), JSON.stringify(beyond.passkey_server)],
    );
    expect(rowCount).toBe(1);
    await server.restart();
  });

  test("A138 origins made to be slow harm no other tenant", async () => {
    const base = `${attacker.base}/passkeys/${attacker.id}`;
    const allowed = async (origin: string) => {
      const response = await fetch(`${base}/.well-known/jwks.json`, { headers: { origin } });
      expect(response.status).toBe(200);
      return response.headers.get("access-control-allow-origin");
    };
    await underAttack(async () => {
      for (const origin of origins) {
        expect(await allowed(origin)).toBeNull();
        const preflight = await fetch(`${base}/login/initialize`, {
          method: "OPTIONS",
          headers: { origin, "access-control-request-method": "POST" },
        });
        expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
        const step = await fetch(`${attacker.base}/login`, { method: "POST", headers: { origin } });
        expect(step.headers.get("access-control-allow-origin")).toBeNull();
      }
    });
    expect(await allowed("https://a.good.example")).toBe("https://a.good.example");
  });

  test("A139 redirect addresses made to be slow harm no other tenant", async () => {
    const statusOf = async (url: string) => {
      const query = new URLSearchParams({
        redirect_to: url,
        code_challenge: "x".repeat(43),
        code_challenge_method: "S256",
      });
      return (await fetch(`${attacker.base}/login?${query}`)).status;
    };
    await underAttack(async () => {
      for (const url of urls) expect(await statusOf(url)).toBe(400);
    });
    expect(await statusOf("https://app.example/good/1")).toBe(200);
  });

  test("A140 claims made to be slow or large are left out, with one warning each, and harm no other tenant", async () => {
    const { email, token } = await register(attacker.base);
    const { sub = "" } = decodeJwt(token);
    const deep = { a: Array.from({ length: 200 }, () => [[1]]), b: "x".repeat(1_000) };
    const patched = await admin("PATCH", `/users/${sub}/metadata`, {
      public_metadata: deep,
      unsafe_metadata: deep,
    });
    expect(patched.status).toBe(200);
    const logged = server.logs().length;
    const names: string[][] = [];
    let signIns = 0;
    await underAttack(async () => {
      if (++signIns > 5) return;
      const client = flowClient(attacker.base);
      await client.start("login");
      await client.act("register_client_capabilities");
      await client.act("continue_with_login_identifier", { email });
      await client.act("continue_to_password_login");
      const { state, headers } = await client.act("password_login", {
        password: "seven herons over the lake",
      });
      expect(state.name).toBe("success");
      names.push(Object.keys(decodeJwt(headers.get("x-auth-token") ?? "")));
    });
    for (const claims of names) {
      expect(claims).toContain("role");
      expect(claims.filter((claim) => /^(dots|hidden|paths|c\d+)$/.test(claim))).toEqual([]);
    }
    expect(names).toHaveLength(5);
    const warnings = server
      .logs()
      .slice(logged)
      .split("\n")
      .filter((line) => line.includes("is left out"));
    expect(warnings).toHaveLength(5 * 49);
  });

  test.runIf(isOld)("A141 entries beyond the bounds are told by one warning for each", () => {
    const lines = server.logs().split("\n");
    const about = (setting: string) =>
      lines.filter((line) => line.includes(setting) && line.includes("ignored"));
    expect(about("(passkey_server.cors.allowed_origins)")).toHaveLength(1);
    expect(about("(hosted.allowed_redirect_urls)")).toHaveLength(1);
  });
});
