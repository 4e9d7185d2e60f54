import { NextRequest } from "next/server";
import { expect, test } from "vitest";
import { addresses } from "#server/http/addresses";
import nextConfig from "./next.config.mjs";
import { config, proxy } from "./proxy.ts";

const answerTo = (path: string, headers: Record<string, string> = {}) =>
  proxy(new NextRequest(`http://localhost:3000${path}`, { headers }));

/** A request header as Next passes it to the page. */
const forwardedHeader = (response: Response, name: string) =>
  response.headers.get(`x-middleware-request-${name}`);

const matches = (path: string) => new RegExp(`^${config.matcher}$`).test(path);

test("runs before pages, and not before the API", () => {
  const api = addresses.map(({ path }) => path.replace(/\{\w+\}/, "x"));
  expect(api.filter(matches)).toEqual([]);
  expect(matches("/_next/static/chunks/main.js")).toBe(false);
  expect(["/", "/no-such-page", "/loginx", "/icon.svg"].filter(matches)).toHaveLength(4);
});

test("A100 pages cannot be framed", async () => {
  const { headers } = await answerTo("/");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("x-frame-options")).toBe("DENY");
});

test("A101 allows passkeys and no other feature that needs permission", async () => {
  const policy = (await answerTo("/")).headers.get("permissions-policy")?.split(", ") ?? [];
  expect(policy.filter((entry) => !entry.endsWith("=()"))).toEqual([
    "publickey-credentials-get=(self)",
    "publickey-credentials-create=(self)",
  ]);
});

test("A102 uses a new nonce for each response, and passes it to Next", async () => {
  const [one, other] = [await answerTo("/"), await answerTo("/")];
  const policy = one.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/script-src 'nonce-[A-Za-z0-9+/]{24}' 'strict-dynamic';/);
  expect(policy).not.toContain("unsafe");
  expect(forwardedHeader(one, "content-security-policy")).toBe(policy);
  expect(other.headers.get("content-security-policy")).not.toBe(policy);
});

test("A102 ignores a nonce that a client sends", async () => {
  const response = await answerTo("/", { "content-security-policy": "script-src 'nonce-mine'" });
  expect(forwardedHeader(response, "content-security-policy")).not.toContain("mine");
});

test("A131 removes the cookie of recovery codes with the page that displays them", async () => {
  for (const prefix of ["", "__Host-"]) {
    const name = `${prefix}stile-codes-00000000-0000-4000-8000-000000000001`;
    const response = await answerTo("/", { cookie: `service=x; ${name}=sealed; stile-login-x=y` });
    expect(response.headers.getSetCookie()).toEqual([
      `${name}=; Path=/; Max-Age=0; HttpOnly${prefix === "" ? "" : "; Secure"}; SameSite=Lax`,
    ]);
    expect(forwardedHeader(response, "cookie")).toContain(`${name}=sealed`);
    // Next removes cookies from the page's view that this header names.
    expect(response.headers.get("x-middleware-set-cookie")).toBeNull();
  }
});

test("sends the referrer to the same origin only", async () => {
  expect((await answerTo("/")).headers.get("referrer-policy")).toBe("same-origin");
});

test("Next's error page is not found", async () => {
  expect((await answerTo("/_global-error")).headers.get("x-middleware-rewrite")).toMatch(/\/_not-found$/);
  expect((await answerTo("/")).headers.get("x-middleware-rewrite")).toBeNull();
});

test("next.config.mjs excludes the same addresses of the API", async () => {
  const sources = (await nextConfig.headers?.())?.map(({ source }) => source);
  const apartFromFrames = sources?.filter((source) => !source.endsWith("embed$).*)"));
  expect(apartFromFrames).toEqual(["/:path*", config.matcher.replace("_next/static/|", "")]);
});

test("passes on and stores a requested language, and ignores malformed ones", async () => {
  const asked = await answerTo("/?lang=de");
  expect(forwardedHeader(asked, "stile-language")).toBe("de");
  expect(asked.headers.get("set-cookie")).toMatch(/^stile-language=de; .*HttpOnly; SameSite=lax/i);
  for (const path of ["/", "/?lang=", "/?lang=../x", `/?lang=${"x".repeat(99)}`]) {
    const plain = await answerTo(path, { "stile-language": "forged" });
    expect(forwardedHeader(plain, "stile-language")).toBeNull();
    expect(plain.headers.get("set-cookie")).toBeNull();
  }
});
