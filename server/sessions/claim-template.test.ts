import { randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { loadConfig } from "../config/load.ts";
import { type Json, TemplateError } from "../lib/go-template.ts";
import { StepBudget } from "../lib/step-budget.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { restRegistration } from "../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { visitor } from "../testing/visitor.ts";
import {
  describeUser,
  evaluateClaim,
  evaluateClaims,
  MAX_CLAIM_STEPS,
  MAX_TEMPLATE_CLAIM_BYTES,
  MAX_TOKEN_STEPS,
  malformedClaimTemplates,
  parseClaim,
  type TemplateUser,
} from "./claim-template.ts";
import { reissueSession } from "./sessions.ts";

const ada: TemplateUser = {
  id: "48986f51-d9c8-4f22-89e9-fb7fab959399",
  email: "ada@example.com",
  emailVerified: true,
  username: "ada",
  name: "Ada Lovelace",
  givenName: "Ada",
  familyName: "Lovelace",
  picture: null,
  publicMetadata: {
    display_name: "GamerDude",
    level: 7,
    "a.b": "dotted",
    games: [
      { name: "Legends of Valor", genre: "RPG" },
      { name: "Space Raiders", genre: "Sci-Fi Shooter" },
    ],
  },
  unsafeMetadata: { ui_theme: "dark", role: "true", injected: '{"admin":true}' },
};

const evaluated = (template: Json, user: Partial<TemplateUser> = {}) =>
  evaluateClaim(parseClaim(template), describeUser({ ...ada, ...user }), {
    steps: new StepBudget(MAX_CLAIM_STEPS),
    bytes: new StepBudget(MAX_TEMPLATE_CLAIM_BYTES),
  });

describe("a claim", () => {
  test.each<[Json, Json]>([
    ["user", "user"],
    [7, 7],
    [true, true],
    [null, null],
    [
      ["a", 1, { b: [false] }],
      ["a", 1, { b: [false] }],
    ],
    ["true", "true"],
    ["[1]", "[1]"],
    ["{{.User.UserID}}", ada.id],
    ["{{.User.Email.Address}}", "ada@example.com"],
    ["{{.User.Email.IsVerified}}", true],
    ["{{.User.Email}}", { address: "ada@example.com", is_primary: true, is_verified: true }],
    ["{{.User.Username}}", "ada"],
    ["{{.User.GivenName}} {{.User.FamilyName}}", "Ada Lovelace"],
    ["{{.User.Name}}", "Ada Lovelace"],
    ["{{.User.Picture}}", ""],
    ['{{ .User.Metadata.Public "display_name" }}', "GamerDude"],
    ['{{ .User.Metadata.Public "level" }}', "7"],
    ['{{ .User.Metadata.Public "games.1.name" }}', "Space Raiders"],
    ['{{ .User.Metadata.Public "games.#" }}', "2"],
    ['{{ .User.Metadata.Public "games.#.genre" }}', ["RPG", "Sci-Fi Shooter"]],
    ['{{ .User.Metadata.Public "a\\\\.b" }}', "dotted"],
    ['{{ .User.Metadata.Public "missing.member" }}', ""],
    ['{{ .User.Metadata.Unsafe "ui_theme" }}', "dark"],
    ["{{if .User.Email.IsVerified}}true{{else}}false{{end}}", true],
    ['{{if .User.Username}}["admin",1]{{else}}[]{{end}}', ["admin", 1]],
    [
      { greeting: "Hello {{.User.Username}}", scopes: ["read", "{{if .User.Email}}write{{end}}"] },
      { greeting: "Hello ada", scopes: ["read", "write"] },
    ],
  ])("%j is %j", (template, value) => {
    expect(evaluated(template)).toEqual(value);
  });

  test("describes the whole user and all metadata", () => {
    const { publicMetadata: public_metadata, unsafeMetadata: unsafe_metadata } = ada;
    expect(evaluated("{{.User.Metadata}}")).toEqual({ public_metadata, unsafe_metadata });
    expect(evaluated("{{.User}}")).toMatchObject({ user_id: ada.id, given_name: "Ada", username: "ada" });
    expect(evaluated("{{.User.Metadata.Unsafe}}")).toEqual(unsafe_metadata);
  });

  test("never takes its type from text that a user has chosen", () => {
    expect(evaluated('{{ .User.Metadata.Unsafe "role" }}')).toBe("true");
    expect(evaluated('{{ .User.Metadata.Unsafe "injected" }}')).toBe('{"admin":true}');
    expect(evaluated('{"theme":"{{ .User.Metadata.Unsafe "ui_theme" }}"}')).toBe('{"theme":"dark"}');
    expect(evaluated("{{.User.Username}}", { username: "true" })).toBe("true");
  });

  test.each([
    ["an address that is missing", "{{.User.Email.Address}}"],
    ["an unknown field", "{{.User.Surname}}"],
    ["private metadata", '{{ .User.Metadata.Private "key" }}'],
    ["a malformed template", "Hello {{ .User.Username }"],
    ["a query in a path", '{{ .User.Metadata.Public "games.#(name>1)" }}'],
  ])("fails for %s", (_, template) => {
    expect(() => evaluated(template, { email: null })).toThrow(TemplateError);
    expect(() => evaluated({ a: [template] }, { email: null })).toThrow(TemplateError);
  });
});

describe("A140 claims made to be slow or large", () => {
  const list = (length: number): Json[] => Array.from({ length }, (_, at) => at);
  const metadata = {
    deep: [list(700)],
    wide: Object.fromEntries(list(250).map((at) => [`k${at}`, at])),
    text: "x",
  };
  const user = describeUser({ ...ada, publicMetadata: metadata, unsafeMetadata: metadata });
  const slow: Record<string, Json> = {
    "dots of the whole user": "{{.}}".repeat(800),
    "values that are not written": `{{if eq ${"(print .User) ".repeat(280)}}}x{{end}}`,
    "paths through lists": `{{if and ${'(.User.Metadata.Public "deep.#.#.#") '.repeat(100)}}}x{{end}}`,
    "lengths of maps": `{{if and ${'(len (.User.Metadata.Public "wide")) '.repeat(100)}}}x{{end}}`,
    "a list of all metadata": Array.from({ length: 120 }, () => "{{.User.Metadata}}"),
    operands: `{{if or ${"false ".repeat(4_000)}}}x{{end}}`,
    text: "x".repeat(4_000),
  };

  test.each(Object.keys(slow))("%s stop at a bound, and the other claims stay", (claim) => {
    const { values, leftOut, steps } = evaluateClaims({ claim: slow[claim] ?? "", role: "user" }, user);
    expect(values).toEqual({ role: "user" });
    expect(leftOut).toEqual([
      { claim: "claim", reason: expect.stringMatching(/more than 4000 steps|too long/) },
    ]);
    // One value more than the bound, which metadata limit.
    expect(steps).toBeLessThan(MAX_CLAIM_STEPS + 8_000);
  });

  test("cost a token a bounded number of steps, whatever their number", () => {
    const { leftOut, steps } = evaluateClaims(
      Object.fromEntries(
        list(50).map((_, at) => [`c${at}`, slow[at % 2 === 0 ? "operands" : "lengths of maps"] ?? ""]),
      ),
      user,
    );
    expect(leftOut).toHaveLength(50);
    expect(steps).toBeLessThan(MAX_TOKEN_STEPS + 50 * 500);
  });

  test("are parsed once for a configuration", () => {
    const claims = { name: "{{.User.Name}}" };
    expect(evaluateClaims(claims, user).values).toEqual({ name: "Ada Lovelace" });
    claims.name = "{{";
    expect(evaluateClaims(claims, user).values).toEqual({ name: "Ada Lovelace" });
  });
});

test("a start warns of templates that cannot be parsed, at any depth", () => {
  const claims = { good: "{{.User.Username}}", bad: { a: ["{{ .User"] }, worse: "{{end}}" };
  expect(malformedClaimTemplates(claims, "STILE_SESSION_JWT_TEMPLATE_CLAIMS")).toEqual([
    expect.stringContaining("STILE_SESSION_JWT_TEMPLATE_CLAIMS has a malformed template for bad: "),
    expect.stringContaining("STILE_SESSION_JWT_TEMPLATE_CLAIMS has a malformed template for worse: "),
  ]);
});

test.each(["sub", "iss", "aud", "exp", "iat", "session_id", "amr", "email", "username", ""])(
  "the configuration rejects the claim %j",
  (claim) => {
    const variables = { STILE_SESSION_JWT_TEMPLATE_CLAIMS: `{${JSON.stringify(claim)}:"x"}` };
    expect(() => loadConfig(variables, import.meta.dirname)).toThrow(
      `STILE_SESSION_JWT_TEMPLATE_CLAIMS (session.jwt_template.claims): cannot set the claim "${claim}"`,
    );
  },
);

describe("a session", () => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await testRuntime();
  });
  afterAll(() => runtime.close());

  const configured = (claims: Record<string, Json>) =>
    runtime.configured({ STILE_SESSION_JWT_TEMPLATE_CLAIMS: JSON.stringify(claims) });

  const registered = async (service: TestRuntime) => {
    const email = `${randomUUID()}@example.com`;
    const { visitor: browser, state } = await restRegistration(service, email);
    const token = browser.cookies.get("service") ?? "";
    return { email, browser, token, claims: (state.payload as { claims: object }).claims };
  };

  test("has the configured claims in its token, at success and in its validation", async () => {
    const service = configured({
      role: "user",
      level: 3,
      mail: "{{.User.Email.Address}}",
      nested: { verified: "{{.User.Email.IsVerified}}" },
    });
    const { email, browser, token, claims } = await registered(service);
    const custom = { role: "user", level: 3, mail: email, nested: { verified: true } };
    expect(decodeJwt(token)).toMatchObject(custom);
    expect(claims).toMatchObject(custom);
    expect((await (await browser.request("/sessions/validate")).json()).claims).toEqual(claims);
    const posted = await visitor(service).post("/sessions/validate", { session_token: token });
    expect((await posted.json()).claims).toEqual(claims);
  });

  test("is issued without a claim whose template fails or makes the token too long", async () => {
    const service = configured({
      broken: "{{ .User.Username",
      surname: "{{ .User.Surname }}",
      long: "x".repeat(MAX_TEMPLATE_CLAIM_BYTES),
      role: "user",
    });
    const lines: object[] = [];
    const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
    const { token } = await registered({ ...service, log });
    const names = ["amr", "aud", "exp", "iat", "iss", "role", "session_id", "sub"];
    expect(Object.keys(decodeJwt(token)).toSorted()).toEqual(names);
    expect(lines.map((line) => ("claim" in line ? line.claim : line))).toEqual(["broken", "surname", "long"]);
  });

  test("has the names and the public metadata of its account when it is issued again", async () => {
    const { token } = await registered(runtime);
    const { sub = "", session_id } = decodeJwt(token);
    // An import may give two tenants accounts of one id.
    const { id: tenantId } = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    await runtime.database.write.insert(schema.users).values({ tenantId, id: sub, name: "Alan" });
    await runtime.database.write
      .update(schema.users)
      .set({ name: "Ada", publicMetadata: { plan: "pro" } })
      .where(and(eq(schema.users.tenantId, runtime.tenant.id), eq(schema.users.id, sub)));
    const service = configured({ name: "{{.User.Name}}", plan: '{{.User.Metadata.Public "plan"}}' });
    const again = await reissueSession({ runtime: service, tenant: service.tenant }, String(session_id), {
      rememberMe: false,
      carrier: "cookie",
    });
    expect(decodeJwt(again?.token ?? "")).toMatchObject({ sub, name: "Ada", plan: "pro" });
  });
});
