import { createHash, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restRegistration } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** How many requests of clients may fail. */

const returnTo = "https://app.example.com/callback";
const secret = "a secret of the shop that has enough characters";
const client = { redirect_uris: [returnTo], scopes: ["openid", "offline_access"] };
const runtime = await runtimeForTests({
  STILE_RATE_LIMITER_ENABLED: "true",
  STILE_RATE_LIMITER_CLIENT_FAILURES_PER_MINUTE: "10",
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_DEVICE_FLOW: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { ...client, name: "The shop", secret },
    wiki: { ...client, name: "The wiki", secret },
    page: { ...client, name: "A page" },
  }),
});

let sources = 0;

/** An application at an address of its own. */
const newSource = (): Visitor => visitor(runtime, `198.51.100.${++sources}`);

const basic = (id: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(password)}`).toString("base64")}`,
});

const grant = { grant_type: "refresh_token", refresh_token: "none" };

/** Presents a refresh token that is none. */
const guess = (source: Visitor, password: string, id = "shop", path = "/oauth/token") =>
  source.submit(path, { ...grant, token: "none" }, basic(id, password));

/** Where clients authenticate, beside the endpoint of tokens. */
const endpoints = ["/oauth/introspect", "/oauth/revoke", "/oauth/par", "/oauth/device"];

const repeated = (times: number, request: () => Promise<Response>) =>
  Promise.all(Array.from({ length: times }, async () => (await request()).status));

/** A code that a user gives the page. */
async function newCode(): Promise<{ code: string; verifier: string }> {
  const { visitor: browser } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  const verifier = "v".repeat(43);
  const query = new URLSearchParams({
    client_id: "page",
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid offline_access",
    prompt: "consent",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const led = await browser.request(`/oauth/authorize?${query}`);
  const code = new URL(led.headers.get("location") ?? "").searchParams.get("code") ?? "";
  return { code, verifier };
}

test("A293 a source that guesses the secret of a client is refused for a minute, with the right one too", async () => {
  const source = newSource();
  expect(await repeated(10, () => guess(source, "wrong"))).toEqual(Array(10).fill(401));
  const refused = await guess(source, secret);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: "temporarily_unavailable" });
  // At each endpoint where clients authenticate.
  for (const path of endpoints) expect((await guess(source, secret, "shop", path)).status).toBe(429);
});

test("A293 guesses at one endpoint are counted with those at the others", async () => {
  for (const path of endpoints) {
    const source = newSource();
    expect(await repeated(10, () => guess(source, "wrong", "shop", path))).toEqual(Array(10).fill(401));
    expect((await guess(source, secret)).status).toBe(429);
  }
});

test("A293 the name of a client in another spelling is the same client", async () => {
  const source = newSource();
  const spelled = { authorization: `basic ${Buffer.from("%73%68op:wrong").toString("base64")}` };
  expect(await repeated(10, () => source.submit("/oauth/token", grant, spelled))).toEqual(
    Array(10).fill(401),
  );
  expect((await guess(source, secret)).status).toBe(429);
});

test("A293 an assertion of a client counts as its secret does", async () => {
  const source = newSource();
  const client_assertion = await new SignJWT({ sub: "shop", iss: "shop" })
    .setProtectedHeader({ alg: "HS256" })
    .sign(Buffer.from("x".repeat(32)));
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  const form = { ...grant, client_assertion, client_assertion_type };
  expect(await repeated(10, () => source.submit("/oauth/token", form))).toEqual(Array(10).fill(401));
  expect((await guess(source, secret)).status).toBe(429);
});

test("another client, and another source, are not refused", async () => {
  const source = newSource();
  await repeated(12, () => guess(source, "wrong"));
  expect((await guess(source, secret, "wiki")).status).toBe(400);
  expect((await guess(newSource(), secret)).status).toBe(400);
});

test("A293 clients that do not exist are counted together", async () => {
  const source = newSource();
  let number = 0;
  const unknown = () => guess(source, "wrong", `unknown ${++number}`);
  expect(await repeated(10, unknown)).toEqual(Array(10).fill(401));
  expect((await unknown()).status).toBe(429);
  for (const authorization of ["Basic", "Basic %%%", "Basic JSU6eA==", `Basic ${"A".repeat(4000)}`]) {
    const answer = await source.submit("/oauth/token", grant, { authorization });
    expect(answer.status).toBe(429);
  }
});

test("a client that has authenticated is not refused for tokens of sessions that have ended", async () => {
  const source = newSource();
  expect(await repeated(20, () => guess(source, secret))).toEqual(Array(20).fill(400));
});

test("A293 a public client may present ten codes or tokens in a minute that are none", async () => {
  const source = newSource();
  const present = () => source.submit("/oauth/token", { ...grant, client_id: "page" });
  expect(await repeated(10, present)).toEqual(Array(10).fill(400));
  expect((await present()).status).toBe(429);
});

test("a public client begins sign-ins and exchanges their codes where too many of its refresh tokens have ended", async () => {
  const source = newSource();
  const present = (form: Record<string, string>, headers = {}, path = "/oauth/token") =>
    source.submit(path, { client_id: "page", ...form }, headers);
  await repeated(10, () => present(grant));
  expect((await present(grant)).status).toBe(429);
  const { code, verifier } = await newCode();
  const exchange = {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    redirect_uri: returnTo,
  };
  expect((await present(exchange)).status).toBe(200);
  const asked = { redirect_uri: returnTo, response_type: "code", scope: "openid", code_challenge: verifier };
  const pushed = await present({ ...asked, code_challenge_method: "S256" }, {}, "/oauth/par");
  expect(pushed.status).toBe(201);
  // What proves something is refused, whatever else the request has.
  for (const more of [
    { refresh_token: "x" },
    { device_code: "x" },
    { client_assertion: "x" },
    { token: "x" },
  ])
    expect((await present({ ...exchange, ...more })).status).toBe(429);
  expect((await present(exchange, basic("page", "x"))).status).toBe(429);
});

test("A293 a client with a secret exchanges no code where too many of its requests have failed", async () => {
  const source = newSource();
  await repeated(10, () => guess(source, "wrong"));
  const exchange = { grant_type: "authorization_code", code: "x", redirect_uri: returnTo };
  expect((await source.submit("/oauth/token", exchange, basic("shop", secret))).status).toBe(429);
  expect((await source.submit("/oauth/token", { ...exchange, client_id: "shop" })).status).toBe(429);
});

test("a page of the client reads the refusal and when to try again, and no other page does", async () => {
  const source = newSource();
  const present = (origin?: string) =>
    source.submit("/oauth/token", { ...grant, client_id: "page" }, origin === undefined ? {} : { origin });
  const own = "https://app.example.com";
  const failed = await present(own);
  expect([failed.status, failed.headers.get("access-control-allow-origin")]).toEqual([400, own]);
  await repeated(10, present);
  const refused = await present(own);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("access-control-allow-origin")).toBe(own);
  expect(refused.headers.get("access-control-expose-headers")).toBe("Retry-After");
  expect(refused.headers.get("access-control-allow-credentials")).toBeNull();
  for (const origin of ["https://evil.example", "null", undefined]) {
    const other = await present(origin);
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([429, null]);
    expect(other.headers.get("vary")).toContain("Origin");
  }
});

test("requests that succeed are not counted", async () => {
  const { code, verifier } = await newCode();
  const source = newSource();
  const redeem = async (form: Record<string, string>) => {
    const answer = await source.submit("/oauth/token", { client_id: "page", ...form });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { refresh_token: string };
  };
  let { refresh_token } = await redeem({
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    redirect_uri: returnTo,
  });
  for (let times = 0; times < 15; times += 1)
    ({ refresh_token } = await redeem({ grant_type: "refresh_token", refresh_token }));
});

test("a provider that is off says so, however large the body of the request is", async () => {
  const off = runtime.configured({ STILE_OPENID_ENABLED: "false", STILE_OPENID_CLIENTS: "{}" });
  const large = { ...grant, padding: "x".repeat(20_000) };
  for (const path of ["/oauth/token", "/oauth/introspect", "/oauth/revoke", "/oauth/par"]) {
    expect((await visitor(off).submit(path, large)).status).toBe(404);
    expect((await visitor(runtime).submit(path, large)).status).toBe(413);
  }
});
