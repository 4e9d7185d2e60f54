import { expect, test } from "vitest";
import { builtPages } from "../../../hosted/assets.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";

/** They need `npm run build`, which makes the files. */

const listed = "https://app.example";
const runtime = await runtimeForTests({ STILE_CORS_ALLOW_ORIGINS: listed });

const get = (file: string, headers: Record<string, string> = {}) =>
  visitor(runtime).request(`/assets/${file}`, { headers });

test("A38 a cache keeps the answers to a listed origin and to others apart", async () => {
  const { style } = (await builtPages()).assets;
  for (const origin of [listed, "https://other.example"]) {
    const { headers } = await get(style, { origin, "accept-encoding": "br" });
    expect([headers.get("content-encoding"), headers.get("vary")]).toEqual(["br", "Accept-Encoding, Origin"]);
  }
});

test.each([
  "..%2fassets.json",
  "..%5cassets.json",
  "%2e%2e%2fdraw.js",
  "__proto__",
  "constructor",
  "%00",
  "%ff",
  "assets.json",
])("serves no file but those of the pages: %s", async (file) => {
  expect((await get(file)).status).toBe(404);
});
