import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FlowClient, flowClient } from "../testing/flow-client.ts";
import { newBrowser, openidApplication, registeredBrowser } from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** Who may frame the pages of authorization requests, by the headers of the built server. */

const listed = "http://localhost:4000";
const partner = "http://localhost:4001";
/** On the list too, and of another site. */
const otherSite = "http://app.localhost:4000";
const secret = "a secret of at least thirty-two characters";
const password = "correct horse battery staple";

const clients = {
  shop: { name: "Shop", secret, redirect_uris: [`${listed}/callback`] },
  reader: {
    name: "Reader",
    secret,
    redirect_uris: ["https://reader.example.net/callback"],
    first_party: false,
  },
  partner: {
    name: "Partner",
    secret,
    redirect_uris: ["https://partner.example.net/callback", `${partner}/callback?from=login`],
    grants: ["authorization_code", "device_code"],
    scopes: ["openid"],
    first_party: false,
  },
  tv: { name: "TV", grants: ["device_code"], scopes: ["openid"] },
};

const start = (origins: string[]) =>
  startServer({
    env: {
      ...(origins.length > 0 ? { STILE_EMBED_ORIGINS: origins.join(",") } : {}),
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_DEVICE_FLOW: "true",
      STILE_OPENID_REGISTRATION: "open",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });

let server: RunningServer;
let visitor: FlowClient;
const email = "ada@example.com";

beforeAll(async () => {
  server = await start([otherSite, listed, partner]);
  visitor = await registeredBrowser(server, email);
});
afterAll(() => server.stop());

/** A browser of the same user. */
function signedIn(): FlowClient {
  const browser = newBrowser(server);
  for (const [name, value] of visitor.cookies) browser.cookies.set(name, value);
  return browser;
}

/** Follows redirects within the service, as a browser does, and returns the answer that shows a page. */
async function open(browser: FlowClient, start: string | URL): Promise<Response> {
  let at = new URL(start);
  for (let hops = 0; hops < 10; hops += 1) {
    const answer = await browser.request(`${at.pathname}${at.search}`, { headers: { accept: "text/html" } });
    const location = answer.headers.get("location");
    if (location === null) return answer;
    at = new URL(location, at);
  }
  throw new Error("the browser is redirected without end");
}

/** Who may frame an answer, in each header that says it. */
function framersOf({ status, headers }: Response) {
  const [, ancestors] =
    /(?:^|; )frame-ancestors ([^;]+)/.exec(headers.get("content-security-policy") ?? "") ?? [];
  const [, passkeys] =
    /publickey-credentials-get=\(([^)]*)\)/.exec(headers.get("permissions-policy") ?? "") ?? [];
  return { status, ancestors, passkeys, old: headers.get("x-frame-options") };
}

const framed = (...origins: string[]) => ({
  status: 200,
  ancestors: origins.join(" "),
  passkeys: ["self", ...origins.map((origin) => `"${origin}"`)].join(" "),
  old: null,
});

const unframed = { status: 200, ancestors: "'none'", passkeys: "self", old: "DENY" };

async function requestOf(clientId: string, parameters: Record<string, string> = {}): Promise<URL> {
  const application = await openidApplication(server.url, { clientId, secret });
  const [redirect_uri = ""] = clients[clientId as "shop"].redirect_uris;
  return (await application.request({ redirect_uri, ...parameters })).url;
}

/** The codes of a device of a client. */
async function deviceOf(clientId: string) {
  const answer = await fetch(`${server.url}/oauth/device`, {
    method: "POST",
    headers:
      clientId === "tv"
        ? {}
        : { authorization: `Basic ${btoa(`${clientId}:${encodeURIComponent(secret)}`)}` },
    body: new URLSearchParams({ client_id: clientId, scope: "openid" }),
  });
  return (await answer.json()) as { user_code: string; verification_uri_complete: string };
}

describe("the pages of an authorization request can be framed by the listed origins that receive the session", () => {
  test("the sign-in, and the registration that it leads to", async () => {
    const browser = newBrowser(server);
    const page = await open(browser, await requestOf("shop"));
    expect(framersOf(page)).toEqual(framed(listed, partner));
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
    expect(framersOf(await open(browser, `${server.url}/?flow=registration`))).toEqual(
      framed(listed, partner),
    );
    const registering = await open(newBrowser(server), await requestOf("shop", { prompt: "create" }));
    expect(framersOf(registering)).toEqual(framed(listed, partner));
  });

  test("the sign-in that a visitor with a session is asked for, and the choice of an account", async () => {
    for (const more of [{ prompt: "login" }, { acr_values: "phr" }, { prompt: "select_account" }])
      expect(framersOf(await open(signedIn(), await requestOf("shop", more)))).toEqual(
        framed(listed, partner),
      );
  });

  test("the question whether a client is allowed something", async () => {
    expect(framersOf(await open(signedIn(), await requestOf("reader")))).toEqual(framed(listed, partner));
  });

  test("the code of a device, and the question about it", async () => {
    const { user_code, verification_uri_complete } = await deviceOf("tv");
    expect(framersOf(await open(newBrowser(server), verification_uri_complete))).toEqual(
      framed(listed, partner),
    );
    const browser = signedIn();
    expect(framersOf(await open(browser, verification_uri_complete))).toEqual(framed(listed, partner));
    const asked = await enterCode(browser, user_code);
    expect((await asked.clone().text()).includes('"id":"tv"')).toBe(true);
    expect(framersOf(asked)).toEqual(framed(listed, partner));
  });

  test("what a browser without scripts is shown after the sign-in", async () => {
    const browser = newBrowser(server);
    await open(browser, await requestOf("shop"));
    const post = (fields: Record<string, string>) =>
      browser.request("/step", {
        method: "POST",
        redirect: "manual",
        headers: { origin: server.url, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ flow: "login", ...fields }),
      });
    const versionOf = async () =>
      /"version":(\d+)/.exec(await (await open(browser, `${server.url}/`)).text())?.[1] ?? "";
    await post({ version: "0", action: "continue_with_login_identifier", email });
    await post({ version: await versionOf(), action: "continue_to_password_login" });
    await post({ version: await versionOf(), action: "password_login", password });
    const page = await open(browser, `${server.url}/`);
    expect((await page.clone().text()).includes('"name":"success"')).toBe(true);
    expect(framersOf(page)).toEqual(framed(listed, partner));
  });
});

/** Enters the code of a device by a form, and opens the page that follows. */
async function enterCode(browser: FlowClient, user_code: string): Promise<Response> {
  await browser.request("/step", {
    method: "POST",
    redirect: "manual",
    headers: { origin: server.url, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ flow: "consent", version: "0", action: "device_code_verify", user_code }),
  });
  return open(browser, `${server.url}/?flow=consent`);
}

describe("A285 nothing else can be framed", () => {
  test("A285 the same pages by an origin that is not listed, or is of another site", async () => {
    const { ancestors = "" } = framersOf(await open(newBrowser(server), await requestOf("shop")));
    expect(ancestors.split(" ")).toEqual([listed, partner]);
    expect(ancestors).not.toContain(otherSite);
  });

  test("A285 the sign-in without a request, or for another address, and the account", async () => {
    for (const path of ["/", "/?flow=registration", "/account", "/?flow=token_exchange"])
      expect(framersOf(await open(newBrowser(server), server.url + path))).toEqual(unframed);
    const browser = newBrowser(server);
    const to = encodeURIComponent(`${server.url}/account`);
    expect(framersOf(await open(browser, `${server.url}/login?redirect_to=${to}`))).toEqual(unframed);
    const waiting = newBrowser(server);
    await open(waiting, await requestOf("shop"));
    for (const path of ["/account", "/confirm", "/embed", "/oauth/logout"])
      expect(framersOf(await open(waiting, server.url + path)).ancestors).toBe("'none'");
  });

  test.each([
    ["no origin is listed", []],
    ["none of those that are listed is of the same site", [otherSite, "https://app.example.com"]],
    ["an origin is https and the service is not", ["https://localhost:4000"]],
  ])("A285 where %s", async (_, origins) => {
    const other = await start(origins);
    const application = await openidApplication(other.url, { clientId: "shop", secret });
    const { url } = await application.request({ redirect_uri: `${listed}/callback` });
    const browser = flowClient(other.url);
    expect(framersOf(await open(browser, url))).toEqual(unframed);
    expect(framersOf(await open(browser, `${other.url}/?flow=consent`))).toEqual(unframed);
    await other.stop();
  });
});

describe("A286 a client that is not the operator's own cannot frame its own question", () => {
  test("A286 from any origin of its redirect addresses, also of one that the request does not name", async () => {
    expect(framersOf(await open(signedIn(), await requestOf("partner")))).toEqual(framed(listed));
  });

  test("A286 on a device, whose question is asked on a page that could be framed before", async () => {
    const { user_code, verification_uri_complete } = await deviceOf("partner");
    const browser = signedIn();
    expect(framersOf(await open(browser, verification_uri_complete))).toEqual(framed(listed, partner));
    const asked = await enterCode(browser, user_code);
    expect((await asked.clone().text()).includes('"id":"partner"')).toBe(true);
    expect(framersOf(asked)).toEqual(framed(listed));
  });

  test("A286 if it has registered itself", async () => {
    const redirect_uris = [`${partner}/callback`, "https://agent.example.org/callback"];
    const registered = await fetch(`${server.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "An agent", redirect_uris }),
    });
    const { client_id, client_secret } = (await registered.json()) as Record<string, string>;
    const application = await openidApplication(server.url, {
      clientId: client_id ?? "",
      secret: client_secret ?? "",
    });
    const { url } = await application.request({ redirect_uri: "https://agent.example.org/callback" });
    expect(framersOf(await open(signedIn(), url))).toEqual(framed(listed));
  });
});

test("a request that asks the user nothing is answered by redirects, which any page may load in a frame", async () => {
  const url = await requestOf("shop", { prompt: "none" });
  for (const [browser, expected] of [
    [newBrowser(server), "error=login_required"],
    [signedIn(), "code="],
  ] as const) {
    const answer = await browser.request(`${url.pathname}${url.search}`);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(new RegExp(`^${listed}/callback\\?.*${expected}`));
  }
});
