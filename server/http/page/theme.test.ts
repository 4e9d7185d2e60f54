import { expect, test } from "vitest";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";
import { themeFiles } from "../../theme/theme-files.ts";

const svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
const logo = { light: `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}` };

const runtime = await runtimeForTests();

async function themed(theme: object) {
  const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: { theme } });
  const { version } = themeFiles(tenant.config.theme);
  const get = (file: string, named = version) =>
    visitor(runtime).request(`/t/${tenant.id}/theme/${named}/${file}`);
  return { tenant, version, get };
}

test("an image of a tenant's theme is kept for a year under its version, and not under another", async () => {
  const { get } = await themed({ logo });
  const cacheOf = async (version?: string) => (await get("logo-light", version)).headers.get("cache-control");
  expect([await cacheOf(), await cacheOf("older")]).toEqual([
    "public, max-age=31536000, immutable",
    "no-store",
  ]);
});

test("other images have another version", async () => {
  const versions = await Promise.all(
    [{}, { logo }, { logo, favicon: logo.light }].map(async (theme) => (await themed(theme)).version),
  );
  expect(new Set(versions).size).toBe(3);
});

test("A102 a logo is served as an image that runs nothing, if it is opened by itself", async () => {
  const { get } = await themed({ logo });
  const response = await get("logo-light");
  expect(response.headers.get("content-type")).toBe("image/svg+xml");
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'.*; sandbox;/);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await response.text()).toBe(svg);
});

test.each(["logo-light", "logo-dark", "favicon", "style.css", "__proto__", "constructor"])(
  "the default theme has no file %s",
  async (file) => {
    const { get } = await themed({});
    expect((await get(file)).status).toBe(404);
  },
);

test("an operator who sets a colour with too little contrast is told which colour pages use", async () => {
  const operator = await adminOperator(
    runtime,
    await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }),
  );
  const answer = await operator.call("PATCH", "/tenant", {
    config: { theme: { light: { accent: "#ffe066" } } },
  });
  expect(answer.body.warnings).toEqual([
    expect.stringMatching(
      /^theme\.light\.accent #ffe066 has a contrast of 1\.\d:1, .* pages use #[0-9a-f]{6}$/,
    ),
  ]);
});

test("the links of the configuration are in every state, and in none without them", async () => {
  const settings = { links: { terms: "https://acme.example/terms", help: "https://acme.example/help" } };
  const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings });
  const { post } = visitor(runtime);
  expect((await (await post(`/t/${tenant.id}/login`, {})).json()).links).toEqual([
    { name: "terms", href: "https://acme.example/terms", category: "legal", target: "_blank" },
    { name: "help", href: "https://acme.example/help", category: "other", target: "_blank" },
  ]);
  expect((await (await post("/login", {})).json()).links).toBeNull();
});
