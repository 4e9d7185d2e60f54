import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Runtime } from "../../runtime.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { messageStyles } from "../answer/message-document.ts";
import { handle } from "../dispatch.ts";

const runtime = await runtimeForTests();

const ask = (query: Record<string, string>, headers: Record<string, string>, on: Runtime = runtime) =>
  handle(
    new Request(`http://localhost:3000/login?${new URLSearchParams(query)}`, {
      headers: { host: "localhost:3000", ...headers },
    }),
    { peer: "192.0.2.1", requestId: "request-1" },
    on,
  );

const rejected = [
  [{ redirect_to: "https://evil.example/<script>" }, "`redirect_to` is not an allowed address"],
  [
    { redirect_to: "http://localhost:3000/account", state: "ü".repeat(300) },
    "`state` must not be longer than 512 bytes.",
  ],
] as const;

test.each(rejected)("A46 a visitor whose return is rejected reads what happened", async (query, message) => {
  const response = await ask(query, { accept: "text/html,*/*;q=0.8", "accept-language": "de-CH" });
  expect([response?.status, response?.headers.get("content-type")]).toEqual([
    400,
    "text/html; charset=utf-8",
  ]);
  const page = (await response?.text()) ?? "";
  expect(page).toContain('<html lang="de" dir="ltr">');
  expect(page).toContain("<h1>Dieser Link funktioniert nicht</h1>");
  expect(page).toContain("Mit Ihrem Konto ist nichts geschehen.");
  expect(page).toContain('<a href="/">Zur Anmeldung</a>');
  // Below a fold, which production has not.
  expect(page).toMatch(new RegExp(`<details[^>]*><summary>For developers</summary><p>[^<]*${message}`));
  expect(page).not.toContain("evil");
  expect(response?.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
});

test("the page of a rejected return leads back to the page that led here, and to no other address", async () => {
  const query = { redirect_to: "https://evil.example/" };
  const linksFrom = async (referer: string) => {
    const response = await ask(query, { accept: "text/html", referer });
    return [...((await response?.text()) ?? "").matchAll(/<a href="([^"]*)">([^<]*)</g)].map(
      ([, href, text]) => [href, text],
    );
  };
  const home = ["/", "Go to sign-in"];
  expect(await linksFrom("https://shop.example/cart?x=1&y=2")).toEqual([
    ["https://shop.example/cart?x=1&amp;y=2", "Back to shop.example"],
    home,
  ]);
  for (const referer of [
    "",
    "http://localhost:3000/account",
    "javascript:alert(1)",
    "https://a@shop.example/",
  ])
    expect(await linksFrom(referer), referer).toEqual([home]);
});

test("production tells a rejected return to the log, not to the visitor", async () => {
  const logged: unknown[][] = [];
  const log = {
    ...runtime.log,
    warn: (...line: unknown[]) => logged.push(line),
  } as unknown as Runtime["log"];
  const tenant = { ...runtime.tenant, config: { ...runtime.config, mode: "production" as const } };
  const query = { redirect_to: `https://evil.example/${"x".repeat(1000)}?code=secret` };
  const response = await ask(query, { accept: "text/html" }, { ...runtime, tenant, log });
  expect(await response?.text()).not.toContain("allowed_redirect_urls");
  expect(logged).toEqual([
    [
      { tenant: runtime.tenant.id, redirect_to: expect.stringMatching(/^https:\/\/evil\.example\/x{234}$/) },
      "`redirect_to` is not an allowed address (hosted.allowed_redirect_urls).",
    ],
  ]);
});

test.each(rejected)("A46 a program whose return is rejected gets JSON", async (query, message) => {
  for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }] as Record<string, string>[]) {
    const response = await ask(query, headers);
    expect([response?.status, await response?.json()]).toEqual([
      400,
      { code: 400, message: expect.stringContaining(message) },
    ]);
  }
});

test("the page of a message has the colours of the theme", () => {
  const theme = readFileSync(join(import.meta.dirname, "../../../components/ui/theme.css"), "utf8");
  const colours = messageStyles.match(/#[\da-f]{6}/g) ?? [];
  expect(colours).toHaveLength(18);
  for (const colour of colours) expect(theme).toContain(colour);
});
