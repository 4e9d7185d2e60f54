import { describe, expect, test } from "vitest";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";
import { wordFiles } from "../../theme/own-words.ts";

const runtime = await runtimeForTests();

const tenantWith = (words: object, more: object = {}) =>
  createTenant(runtime, { name: "Acme", hosts: [], settings: { words, ...more } });

const words = {
  de: {
    "page.signIn": "Los <b>geht's</b>",
    "mail.messages.login.heading": "Code",
    "frame.waiting": "Weiter",
  },
};

describe("components", () => {
  test("are told of a tenant's own texts by every answer of a flow, and load those of the flow once", async () => {
    const tenant = await tenantWith(words, { cors: { allow_origins: ["https://app.example"] } });
    const { version } = wordFiles(tenant.config.words);
    const { request } = visitor(runtime);
    const headers = { origin: "https://app.example" };
    const started = await request(`/t/${tenant.id}/login`, { method: "POST", headers });
    expect(started.headers.get("x-words")).toBe(`${version} de`);
    expect(started.headers.get("access-control-expose-headers")).toContain("X-Words");
    const file = await request(`/t/${tenant.id}/theme/${version}/words-de.json`, { headers });
    expect([
      file.status,
      ...["content-type", "cache-control", "access-control-allow-origin"].map((name) =>
        file.headers.get(name),
      ),
    ]).toEqual([200, "application/json", "public, max-age=31536000, immutable", "https://app.example"]);
    expect(await file.json()).toEqual({ "page.signIn": "Los <b>geht's</b>" });
    const { headers: older } = await request(`/t/${tenant.id}/theme/older/words-de.json`);
    expect(older.get("cache-control")).toBe("no-store");
    expect((await request(`/t/${tenant.id}/theme/${version}/words-en.json`)).status).toBe(404);
  });

  test("are told nothing where there are none", async () => {
    const answer = await visitor(runtime).request("/login", { method: "POST" });
    expect(answer.headers.has("x-words")).toBe(false);
    expect(answer.headers.get("access-control-expose-headers") ?? "").not.toContain("X-Words");
  });
});

test("A102 a page without scripts shows a tenant's own text as text", async () => {
  const tenant = await tenantWith({ en: { "page.badReturnTitle": "<script>alert(1)</script>" } });
  const page = await visitor(runtime).request(`/t/${tenant.id}/login?redirect_to=https://evil.example/`, {
    headers: { accept: "text/html" },
  });
  expect(page.status).toBe(400);
  expect(await page.text()).toContain("<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>");
});

describe("a tenant's own key", () => {
  test("changes and removes texts of pages, and is told which one is unfit", async () => {
    const operator = await adminOperator(runtime, await tenantWith(words));
    const patch = (config: object) => operator.call("PATCH", "/tenant", { config });
    const changed = await patch({ words: { de: { "page.signIn": null, "page.signOut": "Tschüss" } } });
    expect(changed.body.config.words.de).toEqual({
      "page.signOut": "Tschüss",
      "mail.messages.login.heading": "Code",
      "frame.waiting": "Weiter",
    });
    const unfit = await patch({ words: { en: { "page.continueAt": "Onward" } } });
    expect([unfit.status, JSON.stringify(unfit.body)]).toEqual([
      400,
      expect.stringContaining("words.en.page.continueAt must have the placeholder {host}"),
    ]);
  });

  test("A102 cannot set the texts of mails, which go out in the operator's name", async () => {
    const operator = await adminOperator(runtime, await tenantWith(words));
    const patch = (text: string | null) =>
      operator.call("PATCH", "/tenant", {
        config: { words: { de: { "mail.messages.login.heading": text } } },
      });
    expect((await patch("Ihr Gewinn")).status).toBe(403);
    expect((await patch(null)).status).toBe(200);
  });
});
