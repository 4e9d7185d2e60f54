import { describe, expect, test } from "vitest";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";
import { stileColors } from "../../theme/presets.ts";
import { addresses } from "../addresses.ts";

const runtime = await runtimeForTests();
const { request } = visitor(runtime);

describe("GET /openapi.json", () => {
  test("names the base address of the tenant, and answers 304 to a client that has it", async () => {
    const tenant = await createTenant(runtime, { name: "Other", hosts: [], settings: {} });
    for (const prefix of ["", `/t/${tenant.id}`]) {
      const response = await request(`${prefix}/openapi.json`);
      expect((await response.json()).servers).toEqual([{ url: runtime.config.base_url + prefix }]);
      const headers = { "if-none-match": response.headers.get("etag") ?? "" };
      expect((await request(`${prefix}/openapi.json`, { headers })).status).toBe(304);
    }
  });
});

describe("GET /docs/api", () => {
  test("shows every operation, with a policy that lets nothing load or run", async () => {
    const response = await request("/docs/api");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    const page = await response.text();
    const missing = addresses.flatMap(({ operation }) =>
      operation && !page.includes(`id="${operation.id}"`) ? operation.id : [],
    );
    expect(missing).toEqual([]);
    expect(page).not.toMatch(/<script| style=| src=|undefined|\[object/);
  });

  test("has the colours of the theme, and no others", async () => {
    const [, styles = ""] =
      /<style>([\s\S]*?)<\/style>/.exec(await (await request("/docs/api")).text()) ?? [];
    const colors = styles.match(/#[\da-f]{3,8}\b/g) ?? [];
    expect(colors).toHaveLength(12);
    const ofTheme = Object.values(stileColors).flatMap((scheme): string[] => Object.values(scheme));
    expect(ofTheme).toEqual(expect.arrayContaining(colors));
  });

  test("links to nothing that it does not have", async () => {
    const page = await (await request("/docs/api")).text();
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const linked = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
    expect(linked.filter((id) => !ids.has(id))).toEqual([]);
  });
});
