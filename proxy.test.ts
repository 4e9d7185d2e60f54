import { NextRequest } from "next/server";
import { expect, test } from "vitest";
import { addresses } from "#server/http/addresses";
import nextConfig from "./next.config.mjs";
import { config, proxy } from "./proxy.ts";

const answerTo = (path: string, headers: Record<string, string> = {}) =>
  proxy(new NextRequest(`http://localhost:3000${path}`, { headers }));

/** What the page is given of a header, as Next hands it on. */
const handedOn = (response: Response, name: string) => response.headers.get(`x-middleware-request-${name}`);

const matches = (path: string) => new RegExp(`^${config.matcher}$`).test(path);

test("runs before pages, and not before the API, whose answers carry headers of their own", () => {
  const api = addresses.map(({ path }) => path.replace(/\{\w+\}/, "x"));
  expect(api.filter(matches)).toEqual([]);
  expect(matches("/_next/static/chunks/main.js")).toBe(false);
  expect(["/", "/no-such-page", "/loginx", "/icon.svg"].filter(matches)).toHaveLength(4);
});

test("A100 nobody may frame the page", async () => {
  const { headers } = await answerTo("/");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("x-frame-options")).toBe("DENY");
});

test("A101 the page may use passkeys, and nothing else that browsers ask people for", async () => {
  const policy = (await answerTo("/")).headers.get("permissions-policy")?.split(", ") ?? [];
  expect(policy.filter((entry) => !entry.endsWith("=()"))).toEqual([
    "publickey-credentials-get=(self)",
    "publickey-credentials-create=(self)",
  ]);
});

test("A102 scripts run by a nonce that is new every time, and that Next is told of", async () => {
  const [one, other] = [await answerTo("/"), await answerTo("/")];
  const policy = one.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/script-src 'nonce-[A-Za-z0-9+/]{24}' 'strict-dynamic';/);
  expect(policy).not.toContain("unsafe");
  expect(handedOn(one, "content-security-policy")).toBe(policy);
  expect(other.headers.get("content-security-policy")).not.toBe(policy);
});

test("A102 a nonce that a client sends is not used", async () => {
  const response = await answerTo("/", { "content-security-policy": "script-src 'nonce-mine'" });
  expect(handedOn(response, "content-security-policy")).not.toContain("mine");
});

test("a form of the page says where it comes from, and a link to elsewhere does not", async () => {
  expect((await answerTo("/")).headers.get("referrer-policy")).toBe("same-origin");
});

test("Next's own page for errors is not there", async () => {
  expect((await answerTo("/_global-error")).headers.get("x-middleware-rewrite")).toMatch(/\/_not-found$/);
  expect((await answerTo("/")).headers.get("x-middleware-rewrite")).toBeNull();
});

test("the headers of files and of Next's own answers leave out the same addresses of the API", async () => {
  const sources = (await nextConfig.headers?.())?.map(({ source }) => source);
  expect(sources).toEqual(["/:path*", config.matcher.replace("_next/static/|", "")]);
});

test("a language that is asked for is handed on and remembered; anything else is neither", async () => {
  const asked = await answerTo("/?lang=de");
  expect(handedOn(asked, "stile-language")).toBe("de");
  expect(asked.cookies.get("stile-language")).toMatchObject({ value: "de", httpOnly: true, sameSite: "lax" });
  for (const path of ["/", "/?lang=", "/?lang=../x", `/?lang=${"x".repeat(99)}`]) {
    const plain = await answerTo(path, { "stile-language": "forged" });
    expect(handedOn(plain, "stile-language")).toBeNull();
    expect(plain.cookies.getAll()).toEqual([]);
  }
});
