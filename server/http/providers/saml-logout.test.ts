import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { inflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Tenant } from "../../config/tenant.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { providerKey, samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import {
  libraryRequest,
  libraryResponse,
  logoutQuery,
  nameIdXml,
  readByLibrary,
  statusXml,
} from "../../testing/saml-logout.ts";
import type { Answer } from "../../testing/saml-messages.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { waitsForLock } from "../../testing/waits-for-lock.ts";
import { samlKey } from "../../thirdparty/saml/saml-keys.ts";

/** SAML single logout (Profiles 2.0, 4.4). What our side signs is read by the library, and what the provider signs is written by it. */

const home = "http://localhost:3000/";
const logoutUrl = "https://idp.example.org/slo?of=1";
const provider = samlIdentityProvider({ logoutUrl });
const otherProvider = samlIdentityProvider({
  entityId: "https://other.example.org/saml",
  logoutUrl: "https://other.example.org/slo",
});
const settingsOf = (more: object = {}) => ({
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    {
      name: "example",
      domains: ["example.org"],
      metadata: provider.metadata,
      skip_email_verification: true,
      single_logout: true,
      ...more,
    },
    {
      name: "other",
      domains: ["other.example.org"],
      metadata: otherProvider.metadata,
      skip_email_verification: true,
      single_logout: true,
    },
  ]),
});
const runtime = await runtimeForTests(settingsOf());
const { certificate } = await samlKey({ runtime, tenant: runtime.tenant }, "saml_signing");
const sides = {
  entityId: provider.entityId,
  serviceProvider: { entityId: "http://localhost:3000", logoutUrl: `${home}saml/logout`, certificate },
  key: provider.key,
};

interface SignedIn {
  browser: Visitor;
  nameId: string;
  sessionIndex: string;
  userId: string;
}

interface SignInOptions {
  at?: TestRuntime;
  by?: typeof provider;
  domain?: string;
  tenant?: Tenant;
}

/** A user who is back from the provider, and whose flow has not taken the result yet. */
async function comeBack(
  about: Partial<Answer> = {},
  { at = runtime, by = provider, domain = "example.org", tenant = runtime.tenant }: SignInOptions = {},
) {
  const [nameId, sessionIndex] = [about.nameId ?? randomUUID(), about.sessionIndex ?? randomUUID()];
  const flow = await restWalk(at, "login", tenantVisitor(at, tenant));
  const { base_url } = tenant.config;
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email: `ada@${domain}` });
  const request = by.read(String(flow.state.payload.redirect_url));
  const answer = await by.answer({
    consumerUrl: `${base_url}/saml/callback`,
    audience: base_url,
    inResponseTo: request.id,
    attributes: { mail: `${nameId}@${domain}` },
    ...about,
    nameId,
    sessionIndex,
  });
  const callback = await flow.visitor.request("/saml/callback", {
    method: "POST",
    body: new URLSearchParams({ SAMLResponse: answer, RelayState: request.relayState }),
  });
  const token = new URL(callback.headers.get("location") ?? "").searchParams.get("hanko_token");
  return { flow, nameId, sessionIndex, token };
}

async function signIn(about: Partial<Answer> = {}, options: SignInOptions = {}): Promise<SignedIn> {
  const { flow, nameId, sessionIndex, token } = await comeBack(about, options);
  await flow.act("exchange_token", { token });
  expect(flow.state.name).toBe("success");
  const { subject } = flow.state.payload.claims as { subject: string };
  return { browser: flow.visitor, nameId, sessionIndex, userId: subject };
}

const isValid = async (browser: Visitor) =>
  ((await (await browser.request("/sessions/validate")).json()) as { is_valid: boolean }).is_valid;

const pathOf = (address: string | null) => {
  const url = new URL(address ?? "");
  return url.pathname + url.search;
};

/** Signs out, and returns the request that the browser brings to the provider. */
async function signOut(browser: Visitor, query = "") {
  const answer = await browser.request(`/logout${query}`, { method: "POST" });
  expect(answer.status).toBe(204);
  const sent = await browser.request(pathOf(answer.headers.get("x-provider-logout")));
  expect(sent.status).toBe(303);
  const address = sent.headers.get("location") ?? "";
  const { searchParams } = new URL(address);
  const xml = inflateRawSync(Buffer.from(searchParams.get("SAMLRequest") ?? "", "base64")).toString();
  const id = / ID="([^"]+)"/.exec(xml)?.[1] ?? "";
  return { address, xml, id, relayState: searchParams.get("RelayState") ?? "" };
}

/** A browser that a provider sends here, which need not be that of the user. */
const arrives = (search: string, browser = visitor(runtime)) => browser.request(`/saml/logout${search}`);

const signed = { issuer: provider.entityId, key: provider.key };

describe("signing out here", () => {
  test("brings a signed request to the provider, and its answer leads on", async () => {
    const { browser, nameId, sessionIndex } = await signIn({
      nameIdFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    });
    const { address, id, relayState } = await signOut(browser);
    expect(await isValid(browser)).toBe(false);
    expect(address).toMatch(/^https:\/\/idp\.example\.org\/slo\?of=1&SAMLRequest=/);
    expect(await readByLibrary(sides, address)).toMatchObject({
      ID: id,
      issuer: "http://localhost:3000",
      nameID: nameId,
      nameIDFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
      sessionIndex,
    });
    const answer = await libraryResponse(sides, id, relayState);
    const returned = await browser.request(pathOf(answer));
    expect([returned.status, returned.headers.get("location")]).toEqual([303, home]);
  });

  test("names the session as the assertion did, whatever characters it has", async () => {
    const nameId = `a&amp;"b'&lt;c&gt; ${randomUUID()} é`;
    const { browser } = await signIn({
      nameId,
      sessionIndex: "i&amp;&quot;1&quot;",
      attributes: { mail: `${randomUUID()}@example.org` },
    });
    const { address, xml } = await signOut(browser);
    expect(xml).toContain("<samlp:SessionIndex>i&amp;&quot;1&quot;</samlp:SessionIndex>");
    const read = await readByLibrary(sides, address);
    expect(read?.nameID).toBe(nameId.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"));
  });

  test("goes on if the provider says that its session has not ended", async () => {
    const { browser } = await signIn();
    const { id, relayState } = await signOut(browser);
    const query = logoutQuery({
      ...signed,
      element: "LogoutResponse",
      attributes: ` InResponseTo="${id}"`,
      content: statusXml("Responder"),
      relayState,
    });
    const returned = await arrives(query, browser);
    expect([returned.status, returned.headers.get("location")]).toEqual([303, home]);
  });

  test.each([
    ["the setting is off", { single_logout: false }],
    ["the metadata has no address", { metadata: samlIdentityProvider().metadata }],
    [
      "the metadata has an address without TLS",
      { metadata: samlIdentityProvider({ logoutUrl: "ftp://idp.example.org/slo" }).metadata },
    ],
  ])("stays here if %s", async (_, more) => {
    const { browser } = await signIn();
    const answer = await browser.request("/logout", { method: "POST" });
    const other = visitor(runtime.configured(settingsOf(more)));
    const sent = await other.request(pathOf(answer.headers.get("x-provider-logout")));
    expect([sent.status, sent.headers.get("location")]).toEqual([303, home]);
  });

  test("A254 stays here if the provider names the session at greater length than is kept", async () => {
    for (const about of [{ sessionIndex: "i".repeat(1025) }, { nameIdFormat: "f".repeat(1025) }]) {
      const { browser } = await signIn(about);
      const answer = await browser.request("/logout", { method: "POST" });
      expect([answer.status, answer.headers.get("x-provider-logout")]).toEqual([204, null]);
    }
    const { browser, xml } = await signIn({ sessionIndex: "i".repeat(1024) }).then(async (one) => ({
      ...one,
      ...(await signOut(one.browser)),
    }));
    expect(xml).toContain("i".repeat(1024));
    expect(await isValid(browser)).toBe(false);
  });
});

describe("a provider that signs a user out", () => {
  test("ends the session that it names, and is answered with a signed message", async () => {
    const one = await signIn();
    const second = await signIn({ nameId: one.nameId });
    expect(second.userId).toBe(one.userId);
    const address = await libraryRequest(
      sides,
      { nameID: one.nameId, sessionIndex: one.sessionIndex },
      "relayed",
    );
    const answer = await one.browser.request(pathOf(address));
    expect(answer.status).toBe(303);
    const location = answer.headers.get("location") ?? "";
    expect(new URL(location).searchParams.get("RelayState")).toBe("relayed");
    expect(await readByLibrary(sides, location)).toBeNull();
    const xml = inflateRawSync(
      Buffer.from(new URL(location).searchParams.get("SAMLResponse") ?? "", "base64"),
    ).toString();
    expect(xml).toContain('Destination="https://idp.example.org/slo?of=1"');
    expect(xml).toContain("status:Success");
    expect(one.browser.cookies.has("service")).toBe(false);
    expect(await isValid(one.browser)).toBe(false);
    expect(await isValid(second.browser)).toBe(true);
    const trail = await runtime.database.read.select().from(schema.auditLogs);
    expect(
      trail.filter(({ userId, type }) => userId === one.userId && type === "user_logged_out"),
    ).toHaveLength(1);
  });

  test("ends every session of the name if it names none, in whatever browser the request arrives", async () => {
    const one = await signIn();
    const second = await signIn({ nameId: one.nameId });
    const stranger = await signIn();
    const answer = await arrives(
      logoutQuery({ ...signed, content: nameIdXml(one.nameId) }),
      stranger.browser,
    );
    expect(answer.status).toBe(303);
    expect([await isValid(one.browser), await isValid(second.browser)]).toEqual([false, false]);
    // Its own session is another one, and stays.
    expect(stranger.browser.cookies.has("service")).toBe(true);
    expect(await isValid(stranger.browser)).toBe(true);
  });

  test("is answered likewise if there is no such session, with what it has relayed unchanged", async () => {
    const relayState = 'it\'s <here> & "there"';
    const answer = await arrives(logoutQuery({ ...signed, content: nameIdXml("no such user"), relayState }));
    expect(answer.status).toBe(303);
    const location = answer.headers.get("location") ?? "";
    expect(new URL(location).searchParams.get("RelayState")).toBe(relayState);
    expect(await readByLibrary(sides, location)).toBeNull();
  });
});

describe("A296 a provider that signs a user out who is signing in", () => {
  const ends = async (nameId: string, ...sessionIndexes: string[]) =>
    (await arrives(logoutQuery({ ...signed, content: nameIdXml(nameId, ...sessionIndexes) }))).status;

  test("keeps the sign-in from its session", async () => {
    for (const named of [true, false]) {
      const { flow, nameId, sessionIndex, token } = await comeBack();
      expect(await ends(nameId, ...(named ? [sessionIndex] : []))).toBe(303);
      await flow.act("exchange_token", { token });
      expect([flow.response.status, flow.state.name]).toEqual([403, "error"]);
      expect(await isValid(flow.visitor)).toBe(false);
      // The next sign-in is another session at the provider.
      expect(await isValid((await signIn({ nameId })).browser)).toBe(true);
    }
  });

  test("leaves the sign-in of another session at the provider, and of another user", async () => {
    const [one, other] = [await comeBack(), await comeBack()];
    expect(await ends(one.nameId, "another")).toBe(303);
    expect(await ends(randomUUID())).toBe(303);
    for (const { flow, token } of [one, other]) {
      await flow.act("exchange_token", { token });
      expect(await isValid(flow.visitor)).toBe(true);
    }
  });

  test("ends the session of a sign-in that comes through at the same moment", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { flow, nameId, token } = await comeBack();
      const [status] = await Promise.all([
        setTimeout(round % 10).then(() => ends(nameId)),
        flow.act("exchange_token", { token }),
      ]);
      expect(status).toBe(303);
      expect(await isValid(flow.visitor)).toBe(false);
    }
  });
});

describe("A296 a provider that signs a user out who reauthenticates there", () => {
  /** The user of a session that is an hour old, back from the provider for a change of the account. */
  async function comeBackAgain({ browser, nameId, userId }: SignedIn) {
    await runtime.database.write.$client.query(
      "update sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = $1",
      [userId],
    );
    const flow = await restWalk(runtime, "profile", browser);
    await flow.act("register_client_capabilities");
    await flow.act("password_create", { password: "nine otters under the bridge" });
    await flow.act("thirdparty_oauth", { provider: `saml:${provider.entityId}`, redirect_to: home });
    const request = provider.read(String(flow.state.payload.redirect_url));
    const sessionIndex = randomUUID();
    const SAMLResponse = await provider.answer({
      consumerUrl: `${home}saml/callback`,
      audience: sides.serviceProvider.entityId,
      inResponseTo: request.id,
      attributes: { mail: `${nameId}@example.org` },
      nameId,
      sessionIndex,
    });
    const callback = await browser.request("/saml/callback", {
      method: "POST",
      body: new URLSearchParams({ SAMLResponse, RelayState: request.relayState }),
    });
    const token = new URL(callback.headers.get("location") ?? "").searchParams.get("hanko_token");
    return { sessionIndex, proves: () => flow.act("exchange_token", { token }) };
  }

  const ends = async (nameId: string, ...sessionIndexes: string[]) =>
    (await arrives(logoutQuery({ ...signed, content: nameIdXml(nameId, ...sessionIndexes) }))).status;

  test("leaves no session, and neither waits for the other in vain", async () => {
    const one = await signIn();
    const { proves } = await comeBackAgain(one);
    const { $client } = runtime.database.write;
    const holder = await $client.connect();
    const running: Promise<unknown>[] = [];
    try {
      // The reauthentication waits for this row when it has locked its session.
      await holder.query("begin");
      await holder.query(
        `select from provider_sessions p join sessions s on s.id = p.session_id
         where s.user_id = $1 for update of p`,
        [one.userId],
      );
      running.push(proves());
      await waitsForLock($client);
      running.push(ends(one.nameId));
      await waitsForLock($client, 2);
      await holder.query("commit");
      const [state, status] = await Promise.all(running);
      expect([state, status]).toEqual([expect.objectContaining({ name: "profile_init", status: 200 }), 303]);
    } finally {
      holder.release(true);
    }
    expect(await isValid(one.browser)).toBe(false);
    const { rowCount } = await $client.query("select from sessions where user_id = $1", [one.userId]);
    expect(rowCount).toBe(0);
  });

  test.each(["this provider", "another one"])(
    "proves nothing by a session that has ended, where that of the sign-in is at %s",
    async (where) => {
      const one = await signIn();
      const { browser, nameId, userId } = one;
      if (where === "another one")
        await runtime.database.write.$client.query(
          `update provider_sessions p set provider = $2 from sessions s
           where s.id = p.session_id and s.user_id = $1`,
          [userId, `saml:${otherProvider.entityId}`],
        );
      const { sessionIndex, proves } = await comeBackAgain(one);
      expect(await ends(nameId, sessionIndex)).toBe(303);
      const before = browser.cookies.get("service");
      const { name, status } = await proves();
      expect([status, name]).toEqual([403, "error"]);
      expect(browser.cookies.get("service")).toBe(before);
      expect(await isValid(browser)).toBe(true);
    },
  );
});

test("a request whose sign-out failed for the moment ends the sessions when the browser brings it again", async () => {
  const { browser, nameId, sessionIndex } = await signIn();
  const search = logoutQuery({ ...signed, content: nameIdXml(nameId, sessionIndex) });
  const { $client } = runtime.database.write;
  await $client.query(`create function fail_for_the_moment() returns trigger language plpgsql as $$
    begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`);
  await $client.query(
    "create trigger fail_for_the_moment before delete on sessions for each row execute function fail_for_the_moment()",
  );
  expect((await arrives(search, browser)).status).toBe(503);
  await $client.query("drop trigger fail_for_the_moment on sessions");
  expect((await arrives(search, browser)).status).toBe(303);
  expect(await isValid(browser)).toBe(false);
});

describe("A252 rejects a request to sign a user out", () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);

  test.each([
    ["that is not signed", { key: null }],
    ["that another key has signed", { key: providerKey() }],
    ["that is signed with SHA-1", { algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" }],
    ["that is older than some minutes", { issuedAt: minutes(-7) }],
    ["of the future", { issuedAt: minutes(2) }],
    ["that has expired", { attributes: ` NotOnOrAfter="${minutes(-2).toISOString()}"` }],
    ["for another address", { destination: "https://elsewhere.example/saml/logout" }],
    ["without an address", { destination: null }],
    ["of an unknown provider", { issuer: "https://evil.example/saml" }],
    ["in the name of another provider", { issuer: otherProvider.entityId }],
  ])("%s", async (_, about) => {
    const { browser, nameId } = await signIn();
    const query = logoutQuery({ ...signed, content: nameIdXml(nameId), ...about });
    const answer = await arrives(query, browser);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("location")).toBeNull();
    expect(await isValid(browser)).toBe(true);
  });

  test.each([
    ["that names no user", "", undefined],
    ["with an extension", (id: string) => `<samlp:Extensions/>${nameIdXml(id)}`, undefined],
    ["with two names", (id: string) => nameIdXml(id) + nameIdXml(id), undefined],
    ["with an empty session index", (id: string) => nameIdXml(id, ""), undefined],
    [
      "whose RelayState was changed",
      nameIdXml,
      (query: string) => query.replace("RelayState=a", "RelayState=b"),
    ],
    ["whose RelayState was taken away", nameIdXml, (query: string) => query.replace("&RelayState=a", "")],
    ["with a second message", nameIdXml, (query: string) => `${query}&SAMLResponse=x`],
    ["with a parameter twice", nameIdXml, (query: string) => `${query}&RelayState=a`],
    [
      "that cannot be decompressed",
      nameIdXml,
      (query: string) => query.replace("SAMLRequest=", "SAMLRequest=AAAA"),
    ],
    ["in another encoding", nameIdXml, (query: string) => `${query}&SAMLEncoding=urn%3Aplain`],
  ])("%s", async (_, content, change = (query: string) => query) => {
    const { browser, nameId } = await signIn();
    const written = typeof content === "string" ? content : content(nameId);
    const query = change(logoutQuery({ ...signed, content: written, relayState: "a" }));
    expect((await arrives(query, browser)).status).toBe(400);
    expect(await isValid(browser)).toBe(true);
  });

  test("that inflates to more than a message is long", async () => {
    const { browser, nameId } = await signIn();
    const content = nameIdXml(nameId) + " ".repeat(2_000_000);
    expect((await arrives(logoutQuery({ ...signed, content }), browser)).status).toBe(400);
    expect(await isValid(browser)).toBe(true);
  });

  test("that was sent before", async () => {
    const nameId = randomUUID();
    const query = logoutQuery({ ...signed, content: nameIdXml(nameId) });
    expect((await arrives(query)).status).toBe(303);
    const { browser } = await signIn({ nameId });
    expect((await arrives(query, browser)).status).toBe(400);
    expect(await isValid(browser)).toBe(true);
  });

  test("of a provider whose setting is off, or while SAML is", async () => {
    const { browser, nameId } = await signIn();
    const query = logoutQuery({ ...signed, content: nameIdXml(nameId) });
    const off = visitor(runtime.configured(settingsOf({ single_logout: false })));
    expect((await arrives(query, off)).status).toBe(400);
    const none = visitor(runtime.configured({ ...settingsOf(), STILE_SAML_ENABLED: "false" }));
    expect((await arrives(query, none)).status).toBe(403);
    expect(await isValid(browser)).toBe(true);
  });
});

describe("A253 a request to sign a user out", () => {
  test("of one provider does not end the session of the same name at another", async () => {
    const nameId = randomUUID();
    const mine = await signIn({ nameId });
    const theirs = await signIn({ nameId }, { by: otherProvider, domain: "other.example.org" });
    const query = logoutQuery({
      issuer: otherProvider.entityId,
      key: otherProvider.key,
      content: nameIdXml(nameId),
    });
    expect((await arrives(query)).status).toBe(303);
    expect(await isValid(mine.browser)).toBe(true);
    expect(await isValid(theirs.browser)).toBe(false);
  });
});

describe("A253 a request to sign a user out of one tenant", async () => {
  const tenantNamed = async (name: string): Promise<Tenant> => {
    const { saml } = runtime.config;
    const settings = { saml: { enabled: true, identity_providers: saml.identity_providers } };
    const { id } = await createTenant(runtime, { name, hosts: [], settings });
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the created tenant was not found");
    return tenant;
  };
  const [one, two] = [await tenantNamed("One"), await tenantNamed("Two")];

  test("does not end the session of the same name of another, nor is it one there", async () => {
    const nameId = randomUUID();
    const inOne = await signIn({ nameId }, { tenant: one });
    const inTwo = await signIn({ nameId }, { tenant: two });
    const destination = `${one.config.base_url}/saml/logout`;
    const query = logoutQuery({ ...signed, content: nameIdXml(nameId), destination });
    expect((await tenantVisitor(runtime, two).request(`/saml/logout${query}`)).status).toBe(400);
    expect((await tenantVisitor(runtime, one).request(`/saml/logout${query}`)).status).toBe(303);
    expect(await isValid(inOne.browser)).toBe(false);
    expect(await isValid(inTwo.browser)).toBe(true);
  });

  test("goes on at its own addresses alone", async () => {
    const { browser } = await signIn({}, { tenant: one });
    const answer = await browser.request("/logout", { method: "POST" });
    const next = new URL(answer.headers.get("x-provider-logout") ?? "");
    expect(next.href).toMatch(`${one.config.base_url}/logout/provider?state=`);
    const elsewhere = await tenantVisitor(runtime, two).request(`/logout/provider${next.search}`);
    expect(elsewhere.headers.get("location")).toBe(two.config.base_url);
    const here = await browser.request(`/logout/provider${next.search}`);
    expect(here.headers.get("location")).toContain("https://idp.example.org/slo");
  });
});

describe("A252 rejects the answer to a request", () => {
  test.each([
    ["that is not signed", { key: null }],
    ["that another key has signed", { key: providerKey() }],
    ["of another provider", { issuer: otherProvider.entityId, key: otherProvider.key }],
    ["that is older than some minutes", { issuedAt: new Date(Date.now() - 7 * 60_000) }],
    ["for another address", { destination: "https://elsewhere.example/saml/logout" }],
    ["to another request", { attributes: ' InResponseTo="_other"' }],
    ["to no request", { attributes: "" }],
    ["to another sign-out", { relayState: `stile_sp_${"A".repeat(43)}` }],
    ["without RelayState", { relayState: null }],
  ])("%s, and accepts the true one then, once", async (_, about) => {
    const { browser } = await signIn();
    const { id, relayState } = await signOut(browser);
    const answer = {
      ...signed,
      element: "LogoutResponse" as const,
      attributes: ` InResponseTo="${id}"`,
      content: statusXml(),
      relayState,
    };
    const forged = await arrives(logoutQuery({ ...answer, ...about }), browser);
    expect([forged.status, forged.headers.get("location")]).toEqual([400, null]);
    const isToThisSignOut = !("relayState" in about);
    expect((await forged.text()).includes("You are signed out")).toBe(isToThisSignOut);
    const query = logoutQuery(answer);
    expect((await arrives(query, browser)).headers.get("location")).toBe(home);
    expect((await arrives(query, browser)).status).toBe(400);
  });
});

test("the metadata names the address for providers whose setting is on", async () => {
  const metadata = async (domain: string, at = runtime) =>
    (await visitor(at).request(`/saml/metadata?domain=${domain}`)).text();
  expect(await metadata("example.org")).toMatch(
    /<\/md:KeyDescriptor>\s*<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2\.0:bindings:HTTP-Redirect" Location="http:\/\/localhost:3000\/saml\/logout"\/>\s*<md:NameIDFormat>/,
  );
  expect(
    await metadata("example.org", runtime.configured(settingsOf({ single_logout: false }))),
  ).not.toContain("SingleLogoutService");
});
