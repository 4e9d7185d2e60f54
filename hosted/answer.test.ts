import { randomUUID } from "node:crypto";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openDatabase } from "#db/client";
import { pageCookie } from "#server/http/page/page-cookie";
import { createTenant } from "#server/tenants/manage-tenants";
import { restRegistration } from "#server/testing/rest-walk";
import type { TestRuntime } from "#server/testing/runtime";
import { runtimeForTests } from "../server/testing/open-for-tests.ts";
import { visitor } from "../server/testing/visitor.ts";
import { answerPage } from "./answer.ts";

/** Tests of the pages as they are answered. They need `npm run build`, which makes what draws them. */

const runtime = await runtimeForTests({ STILE_EMBED_ORIGINS: "http://localhost:4000" });

const answerTo = (path: string, headers: Record<string, string> = {}, method = "GET", on = runtime) =>
  answerPage(
    new Request(`http://localhost:3000${path}`, { method, headers: { host: "localhost:3000", ...headers } }),
    { address: "192.0.2.1", requestId: "request-1" },
    on,
  );

/** The directives of a policy by name. */
const policyOf = ({ headers }: Response) =>
  new Map(
    (headers.get("content-security-policy") ?? "").split("; ").map((directive): [string, string] => {
      const space = directive.indexOf(" ");
      return [directive.slice(0, space), directive.slice(space + 1)];
    }),
  );

describe("the headers of a page", () => {
  test("A100 forbid every page to frame it", async () => {
    const answer = await answerTo("/");
    expect(policyOf(answer).get("frame-ancestors")).toBe("'none'");
    expect(answer.headers.get("x-frame-options")).toBe("DENY");
  });

  test("A100 let a listed page frame the page of a frame, and no other", async () => {
    const framed = await answerTo("/embed?origin=http://localhost:4000");
    expect(policyOf(framed).get("frame-ancestors")).toBe("http://localhost:4000");
    expect(framed.headers.get("x-frame-options")).toBeNull();
    expect(framed.headers.get("permissions-policy")).toContain(
      'publickey-credentials-create=(self "http://localhost:4000")',
    );
    const refused = await answerTo("/embed?origin=http://localhost:5000");
    expect(policyOf(refused).get("frame-ancestors")).toBe("'none'");
  });

  test("A285 let origins frame the pages of authorization requests that get the session cookie, and no others", async () => {
    const origins = [
      "https://app.example.com",
      "https://example.com:8443",
      "https://example.com.evil.example",
    ];
    const framersOn = async (settings: Record<string, string>, path = "/?flow=consent") =>
      policyOf(
        await answerTo(
          path,
          {},
          "GET",
          runtime.configured({
            BASE_URL: "https://login.example.com",
            STILE_OPENID_ENABLED: "true",
            STILE_EMBED_ORIGINS: origins.join(","),
            ...settings,
          }),
        ),
      ).get("frame-ancestors");
    const domain = { STILE_SESSION_COOKIE_DOMAIN: "example.com" };
    expect(await framersOn(domain)).toBe("https://app.example.com https://example.com:8443");
    expect(await framersOn(domain, "/")).toBe("'none'");
    expect(await framersOn({})).toBe("'none'");
    expect(await framersOn({ ...domain, STILE_OPENID_ENABLED: "false" })).toBe("'none'");
    // The session cookie of a tenant under a path is sent there alone.
    const settings = { openid: { enabled: true }, embed: { origins: ["http://localhost:4000"] } };
    const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings });
    expect(policyOf(await answerTo(`/t/${id}/?flow=consent`)).get("frame-ancestors")).toBe("'none'");
  });

  test("A101 allow passkeys and no other feature that needs permission", async () => {
    const policy = (await answerTo("/")).headers.get("permissions-policy")?.split(", ") ?? [];
    expect(policy.filter((entry) => !entry.endsWith("=()"))).toEqual([
      "publickey-credentials-get=(self)",
      "publickey-credentials-create=(self)",
    ]);
  });

  test("A102 let only the styles with the nonce of this answer apply", async () => {
    const answer = await answerTo("/");
    const styles = policyOf(answer).get("style-src") ?? "";
    expect(styles).toMatch(/^'nonce-[A-Za-z0-9+/]{24}'$/);
    const [, nonce = ""] = /<style nonce="([^"]+)">/.exec(await answer.text()) ?? [];
    expect(styles).toBe(`'nonce-${nonce}'`);
  });

  test("A102 let only the script with the nonce of this answer run, and no text become script", async () => {
    const [one, other] = [await answerTo("/"), await answerTo("/")];
    const scripts = policyOf(one).get("script-src") ?? "";
    expect(scripts).toMatch(/^'nonce-[A-Za-z0-9+/]{24}' 'strict-dynamic'$/);
    expect(policyOf(one).get("trusted-types")).toBe("'none'");
    expect(one.headers.get("content-security-policy")).not.toContain("unsafe");
    expect(policyOf(other).get("script-src")).not.toBe(scripts);
    const nonce = /nonce-([^']+)/.exec(scripts)?.[1];
    const tags = (await one.text()).match(/<script[^>]*>/g);
    expect(tags).toEqual([
      '<script type="application/json" id="stile-properties">',
      expect.stringMatching(/^<script type="module" src="\/assets\/login-\w+\.js" nonce="[^"]+">$/),
    ]);
    expect(tags?.[1]).toContain(`nonce="${nonce}"`);
  });

  test("send the referrer to the same origin only, and none from a page whose address is secret", async () => {
    const answer = await answerTo("/");
    expect(answer.headers.get("referrer-policy")).toBe("same-origin");
    expect(await answer.text()).not.toContain('name="referrer"');
    expect(await (await answerTo("/confirm?token=x")).text()).toContain(
      '<meta name="referrer" content="no-referrer">',
    );
  });

  test("forbid caching, and name the request", async () => {
    const { headers } = await answerTo("/");
    expect([headers.get("cache-control"), headers.get("x-request-id")]).toEqual(["no-store", "request-1"]);
  });

  test("demand https from then on where the service has it", async () => {
    const https = runtime.configured({ BASE_URL: "https://localhost:3000" });
    const [plain, secure] = [await answerTo("/"), await answerTo("/", {}, "GET", https)];
    expect(plain.headers.has("strict-transport-security")).toBe(false);
    expect(secure.headers.get("strict-transport-security")).toContain("max-age=31536000");
  });

  test("let no page of another origin read it", async () => {
    const shared = runtime.configured({ STILE_CORS_ALLOW_ORIGINS: "https://app.example" });
    const { headers } = await answerTo("/", { origin: "https://app.example" }, "GET", shared);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

test("A102 what a client sends cannot leave the data of the script", async () => {
  const settings = { STILE_SERVICE_NAME: "</script><script>alert(1)</script><!--" };
  const text = await (await answerTo("/", {}, "GET", runtime.configured(settings))).text();
  expect(text.match(/<script/g)).toHaveLength(2);
  const data = /id="stile-properties">([^<]*)<\/script>/.exec(text)?.[1] ?? "";
  expect(JSON.parse(data)).toMatchObject({ service: settings.STILE_SERVICE_NAME });
});

/** What a browser without scripts sends after its flow has created recovery codes. */
async function codesCookie(): Promise<string> {
  const codes = { flowId: randomUUID(), version: 3, codes: ["xq7v2-b9kd4"] };
  const line = await pageCookie(runtime, runtime.tenant, "codes", codes);
  return line.slice(0, line.indexOf(";"));
}

test.each(["/", "/account", "/confirm", "/embed", "/nope", "/?flow=registration"])(
  "A131 keeps the cookie of recovery codes while another page than theirs is displayed: %s",
  async (path) => {
    const answer = await answerTo(path, { cookie: await codesCookie() });
    expect(await answer.text()).not.toContain("xq7v2-b9kd4");
    expect(answer.headers.getSetCookie()).toEqual([]);
  },
);

test("a page of a flow that waits for no provider repeats no token of its address (BREACH)", async () => {
  for (const path of ["/", "/account", "/?flow=registration"]) {
    const text = await (await answerTo(`${path}${path.includes("?") ? "&" : "?"}hanko_token=guess`)).text();
    expect(text).not.toContain("guess");
    expect(text).toContain("page_renewed");
  }
  expect(await (await answerTo("/?saml_hint=idp_initiated&hanko_token=given")).text()).toContain('"given"');
});

test("says that it helps to try again where the database cannot be reached", async () => {
  const unreachable = () => {
    throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  };
  const without = {
    ...runtime,
    vault: Object.assign(Object.create(runtime.vault), { passwords: unreachable }),
  };
  const answer = await answerTo("/", { cookie: `stile-login-${runtime.tenant.id}=x` }, "GET", without);
  expect(await answer.text()).toContain('"code":"temporarily_unavailable"');
});

test.each(["/", "/account"])(
  "%s says that it helps to try again while the database does not answer",
  async (path) => {
    const { visitor: owner } = await restRegistration(runtime, `${randomUUID()}@example.com`);
    const database = openDatabase("postgres://localhost:1/none", 1, () => {});
    const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await answerTo(path, { cookie }, "GET", { ...runtime, database });
    const text = await answer.text();
    await database.close();
    // The first page of a login needs no database.
    expect(text.includes('"code":"temporarily_unavailable"')).toBe(path === "/account");
    expect(text).not.toContain('"code":"technical_error"');
  },
);

test("answers for a tenant with the tenant's settings, whatever the method", async () => {
  const { config } = runtime.configured({ STILE_CORS_ALLOW_ORIGINS: "https://app.example" });
  const tenant = { ...runtime.tenant, id: "shop", config: { ...config, base_url: "https://shop.example" } };
  const tenants = { ...runtime.tenants, byHost: () => Promise.resolve(tenant) };
  const on = { ...runtime, tenants };
  const posted = await answerTo("/", { host: "shop.example", origin: "https://app.example" }, "POST", on);
  expect([posted.status, posted.headers.get("access-control-allow-origin")]).toEqual([
    405,
    "https://app.example",
  ]);
  expect(posted.headers.has("strict-transport-security")).toBe(true);
});

test("leads to another page of the same tenant", async () => {
  const config = { ...runtime.config, base_url: "http://localhost:3000/t/7" };
  const tenant = { ...runtime.tenant, id: "7", config };
  const tenants = { ...runtime.tenants, byHost: () => Promise.resolve(tenant) };
  const at = async (path: string, headers = {}) =>
    (await answerTo(path, { host: "shop.example", ...headers }, "GET", { ...runtime, tenants })).headers.get(
      "location",
    );
  expect(await at("/?flow=profile")).toBe("/t/7/account");
  expect(await at("/?redirect_to=x")).toBe("/t/7/login?redirect_to=x");
  expect(await at("/?check=cookies", { cookie: "a=b" })).toBe("/t/7");
  expect(await at("/account?check=cookies&x=1", { cookie: "a=b" })).toBe("/t/7/account?x=1");
});

test("uses and stores a requested language, and ignores malformed ones", async () => {
  const asked = await answerTo("/?lang=de");
  expect(await asked.text()).toContain('<html lang="de" dir="ltr">');
  expect(asked.headers.get("set-cookie")).toMatch(
    /^stile-language=de; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
  );
  for (const path of ["/", "/?lang=", "/?lang=../x", `/?lang=${"x".repeat(99)}`]) {
    const plain = await answerTo(path, { cookie: "stile-language=fr", "accept-language": "de" });
    expect(await plain.text()).toContain('<html lang="fr" dir="ltr">');
    expect(plain.headers.get("set-cookie")).toBeNull();
  }
});

test("compresses a page as the browser accepts it", async () => {
  const decoded = async (accepted: string, decode: (body: Buffer) => Buffer) => {
    const answer = await answerTo("/", { "accept-encoding": accepted });
    return [
      answer.headers.get("content-encoding"),
      decode(Buffer.from(await answer.arrayBuffer())).toString(),
    ];
  };
  const page = expect.stringMatching(/^<!DOCTYPE html>[\s\S]*<\/html>\n$/);
  expect(await decoded("gzip, br", (body) => brotliDecompressSync(body))).toEqual(["br", page]);
  expect(await decoded("gzip", (body) => gunzipSync(body))).toEqual(["gzip", page]);
  expect(await decoded("identity", (body) => body)).toEqual([null, page]);
});

test("answers HEAD with the headers of the page", async () => {
  const [head, page] = [await answerTo("/", {}, "HEAD"), await answerTo("/")];
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect([...head.headers.keys()]).toEqual([...page.headers.keys()]);
});

test.each(["POST", "PUT", "OPTIONS", "TRACE"])("A97 rejects %s without reading its body", async (method) => {
  const answer = await answerPage(
    { method, url: "http://localhost:3000/", headers: new Headers({ host: "localhost" }) } as Request,
    { address: "192.0.2.1", requestId: "request-1" },
    runtime,
  );
  expect([answer.status, answer.headers.get("allow"), answer.headers.get("connection")]).toEqual([
    405,
    "GET, HEAD",
    "close",
  ]);
  expect(await answer.json()).toEqual({ code: 405, message: expect.any(String) });
});

test("leads a request for another page there", async () => {
  const answer = await answerTo("/?redirect_to=https%3A%2F%2Fapp.example%2F&state=a%26b");
  expect([answer.status, answer.headers.get("location")]).toEqual([
    307,
    "/login?redirect_to=https%3A%2F%2Fapp.example%2F&state=a%26b",
  ]);
  expect((await answerTo("/?flow=profile")).headers.get("location")).toBe("/account");
});

describe("the styles of a page", () => {
  const stylesOf = async (answer: Response) =>
    /<style[^>]*>([^<]*)<\/style>/.exec(await answer.text())?.[1] ?? "";

  test("stand in its document, so that its first answer can be drawn", async () => {
    const answer = await answerTo("/");
    expect(await answer.clone().text()).not.toContain('rel="stylesheet"');
    expect(await stylesOf(answer)).toContain(".stile-form{");
  });

  test("end with those of the tenant's theme", async () => {
    const theme = { light: { accent: "#7a1fa2" } };
    const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: { theme } });
    expect(await stylesOf(await answerTo(`/t/${tenant.id}/`))).toMatch(/--stile-accent: #7a1fa2;[^<]*$/);
    expect(await stylesOf(await answerTo("/"))).not.toContain("#7a1fa2");
  });

  test.each([
    ["light", "dark"],
    ["dark", "light"],
  ] as const)("of a frame that asks for the %s scheme have no other", async (scheme, other) => {
    const settings = {
      theme: { [scheme]: { surface: "#123456" }, [other]: { surface: "#654321" } },
      embed: { origins: ["http://localhost:4000"] },
    };
    const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings });
    const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const frame = `/embed?origin=http://localhost:4000&theme=${scheme}&code_challenge=${challenge}`;
    const styles = await stylesOf(await answerTo(`/t/${tenant.id}${frame}`));
    expect(styles).toContain(`color-scheme: ${scheme};`);
    expect(styles).toContain("--stile-surface: #123456;");
    expect(styles).not.toContain("#654321");
    expect(await stylesOf(await answerTo(frame))).toMatch(new RegExp(`color-scheme: ${scheme};[^<]*$`));
  });
});

test("tells a browser that keeps no cookies from one that had none before its first form", async () => {
  const refused = await answerTo("/?flow=registration&check=cookies");
  expect([refused.status, await refused.text()]).toEqual([
    200,
    expect.stringContaining("Your browser keeps no cookies for this page"),
  ]);
  const kept = await answerTo("/?flow=registration&check=cookies", { cookie: "stile-registration-x=y" });
  expect([kept.status, kept.headers.get("location")]).toEqual([307, "/?flow=registration"]);
  const login = await answerTo("/?check=cookies", { cookie: "stile-login-x=y" });
  expect(login.headers.get("location")).toBe("/");
});

test("says that an address is missing, with a way to sign in", async () => {
  for (const path of ["/nope", "/t/nope", "/t/nope/account", "/constructor"]) {
    const answer = await answerTo(path);
    const text = await answer.text();
    expect([path, answer.status]).toEqual([path, 404]);
    expect(text).toContain("There is no page here");
    expect(text).not.toContain("<script");
  }
});

test("A133 says that the page failed, and logs why", async () => {
  const errors: unknown[] = [];
  const log = {
    ...runtime.log,
    error: (entry: unknown) => errors.push(entry),
  } as unknown as TestRuntime["log"];
  const tenants = { ...runtime.tenants, byHost: () => Promise.reject(new Error("no such table")) };
  const answer = await answerTo("/", { host: "shop.example" }, "GET", { ...runtime, log, tenants });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([500, "text/html; charset=utf-8"]);
  expect(await answer.text()).not.toContain("no such table");
  expect(errors).toEqual([expect.objectContaining({ request_id: "request-1" })]);
});

describe("the support number", () => {
  const path = "/?flow=login";

  async function pageOfFlow(on = runtime, query = path) {
    const browser = visitor(on);
    await browser.mutate("flow.start", { type: "login" });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return (await answerTo(query, { cookie }, "GET", on)).text();
  }

  test("stands at the foot of the page of a flow, in its language, without a script", async () => {
    const shown = (text: string) => new RegExp(`${text} (<!-- -->)?<bdi [^>]+>[A-Z]{4} [A-Z]{4}</bdi>`);
    expect(await pageOfFlow()).toMatch(shown("Support number"));
    expect(await pageOfFlow(runtime, `${path}&lang=de`)).toMatch(shown("Support-Nummer"));
  });

  test("is on no page where no flow is started, or flows are not recorded", async () => {
    expect(await (await answerTo(path)).text()).not.toContain('<bdi dir="ltr" translate');
    const off = runtime.configured({ STILE_RECORDER_ENABLED: "false" });
    expect(await pageOfFlow(off)).not.toContain('<bdi dir="ltr" translate');
  });
});
