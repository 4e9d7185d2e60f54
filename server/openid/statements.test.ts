import { eq, sql } from "drizzle-orm";
import * as openid from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openidArtifacts } from "#db/schema/openid";
import { type FlowClient, flowClient } from "../testing/flow-client.ts";
import {
  newBrowser,
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../testing/openid-application.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { countStatements, type StatementCounter } from "../testing/statement-counter.ts";

/** How many statements each request of a single sign-on sends to PostgreSQL: they are what it costs. */

let database: TestDatabase;
let counter: StatementCounter;
let smtp: SmtpCatcher;
let server: RunningServer;
let shop: OpenidApplication;
let browser: FlowClient;

const secret = "a secret of the shop that has enough characters";
const email = "ada@example.com";
const orders = "https://api.example.com/orders";
const stock = "https://api.example.com/stock";

beforeAll(async () => {
  database = await testDatabase();
  counter = await countStatements(database.url);
  smtp = await startSmtp();
  const clients = {
    shop: {
      name: "The shop",
      secret,
      redirect_uris: [REDIRECT_URI],
      scopes: ["openid", "profile", "email", "phone", "read"],
    },
    wiki: {
      name: "The wiki",
      secret,
      redirect_uris: [REDIRECT_URI],
      scopes: ["openid", "groups"],
      claims: { plan: '{{.User.Metadata.Public "plan"}}' },
    },
    club: {
      name: "The club",
      secret,
      redirect_uris: [REDIRECT_URI],
      frontchannel_logout_uri: "https://app.example.com/out",
    },
    tv: { name: "The shop on TV", grants: ["device_code"], scopes: ["openid"] },
    orders: {
      name: "Orders",
      secret,
      grants: ["token_exchange"],
      serves: [orders],
      scopes: ["read"],
    },
  };
  server = await startServer({
    env: {
      DATABASE_URL: counter.url,
      SMTP_URL: smtp.url,
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_DEVICE_FLOW: "true",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_OPENID_RESOURCES: JSON.stringify({
        [orders]: { scopes: ["read"] },
        [stock]: { scopes: ["read"] },
      }),
      STILE_OPENID_SCOPES: JSON.stringify({ groups: { claims: { groups: "public.groups" } } }),
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
    },
  });
  shop = await openidApplication(server.url, { clientId: "shop", secret });
  browser = newBrowser(server);
  const registered = await registeredWith(email);
  for (const [name, value] of registered.cookies) browser.cookies.set(name, value);
  // The first sign-on of a session makes its grant.
  await shop.signIn(browser, { scope: "openid email" });
});
afterAll(async () => {
  await server.stop();
  await counter.close();
  await smtp.close();
  await database.close();
});

/** The browser of a user who has just registered with an address. */
async function registeredWith(address: string): Promise<FlowClient> {
  const registering = flowClient(server.url);
  await registering.start("registration");
  await registering.act("register_client_capabilities", { webauthn_available: false });
  await registering.act("register_login_identifier", { email: address });
  await registering.act("verify_passcode", { code: await smtp.codeFor(address) });
  await registering.act("register_password", { new_password: "correct horse battery staple" });
  return registering;
}

/** Statements that the server sends of its own accord. */
const background =
  /^(claim_(deliveries|logouts)$|find_logouts$|claim_[a-z]+(_[a-z]+)*_\d+$|write_outcomes$|recorder_limits$|record_(steps|flows)$|funnel_counts$|insert into recorded_settings |with renewed as )/;

/** The statements that are sent while a request is answered. */
async function sentBy<Result>(request: () => Promise<Result>): Promise<[Result, string[]]> {
  const before = counter.sent.length;
  const result = await request();
  const sent = counter.sent
    .slice(before)
    .filter(({ application, statement }) => application !== "stile-jobs" && !background.test(statement))
    .map(({ statement }) => statement);
  return [result, sent];
}

test("a single sign-on takes two statements for the code, two for the tokens, and one for UserInfo", async () => {
  const { url, checks } = await shop.request({ scope: "openid email" });
  const [returned, authorization] = await sentBy(() => visit(browser, url));
  expect(numbersOf(authorization)).toEqual({
    openid_session_with_clients: 1,
    openid_upsert: 1,
  });
  const [tokens, exchange] = await sentBy(() => openid.authorizationCodeGrant(shop.config, returned, checks));
  expect(numbersOf(exchange)).toEqual({
    openid_find_presented: 1,
    openid_redeem: 1,
  });
  const { sub = "" } = tokens.claims() ?? {};
  const [, userInfo] = await sentBy(() => openid.fetchUserInfo(shop.config, tokens.access_token, sub));
  expect(numbersOf(userInfo)).toEqual({
    openid_find_presented: 1,
  });
  const [, renewal] = await sentBy(() => openid.refreshTokenGrant(shop.config, tokens.refresh_token ?? ""));
  expect(numbersOf(renewal)).toEqual({
    openid_find_presented: 1,
    openid_redeem: 1,
  });
});

test("a session whose clients a former version has stored keeps its grant, which takes one statement more", async () => {
  const { write } = database.database;
  await write.execute(sql`update openid_artifacts set grant_hash = null where kind = 'Session'`);
  const grants = () => write.$count(openidArtifacts, eq(openidArtifacts.kind, "Grant"));
  const before = await grants();
  const { url } = await shop.request({ scope: "openid email" });
  const [, authorization] = await sentBy(() => visit(browser, url));
  expect(numbersOf(authorization)).toEqual({
    openid_session_with_clients: 1,
    openid_find: 1,
    openid_upsert: 1,
  });
  expect(await grants()).toBe(before);
});

test("claims of metadata take no statement more: the account is read with them", async () => {
  const wiki = await openidApplication(server.url, { clientId: "wiki", secret });
  await wiki.signIn(browser, { scope: "openid groups" });
  const { url, checks } = await wiki.request({ scope: "openid groups" });
  const returned = await visit(browser, url);
  const [tokens, exchange] = await sentBy(() => openid.authorizationCodeGrant(wiki.config, returned, checks));
  expect(numbersOf(exchange)).toEqual({
    openid_find_presented: 1,
    openid_redeem: 1,
  });
  const { sub = "" } = tokens.claims() ?? {};
  const [, userInfo] = await sentBy(() => openid.fetchUserInfo(wiki.config, tokens.access_token, sub));
  expect(numbersOf(userInfo)).toEqual({
    openid_find_presented: 1,
  });
});

test("A260 a request of a device that waits is one statement, in time and too soon", async () => {
  const tv = await openidApplication(server.url, { clientId: "tv" });
  const codes = await openid.initiateDeviceAuthorization(tv.config, { scope: "openid" });
  for (const error of ["authorization_pending", "slow_down"]) {
    const [answered, sent] = await sentBy(() =>
      openid
        .genericGrantRequest(tv.config, "urn:ietf:params:oauth:grant-type:device_code", {
          device_code: codes.device_code,
        })
        .catch((refused: unknown) => refused),
    );
    expect(answered).toMatchObject({ error });
    expect(numbersOf(sent)).toEqual({ openid_poll: 1 });
  }
});

test("the exchange of a token takes one statement for all that belongs to it, and one for the audit log", async () => {
  const { url, checks } = await shop.request({ scope: "openid read", resource: orders });
  const resource = { resource: orders };
  const tokens = await openid.authorizationCodeGrant(
    shop.config,
    await visit(browser, url),
    checks,
    resource,
  );
  const service = await openidApplication(server.url, { clientId: "orders", secret });
  const [given, sent] = await sentBy(() =>
    openid.genericGrantRequest(service.config, "urn:ietf:params:oauth:grant-type:token-exchange", {
      subject_token: tokens.access_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
      resource: stock,
    }),
  );
  expect(given.scope).toBe("read");
  expect(numbersOf(sent)).toEqual({ openid_find_presented_grant: 1, entry_of_attempt: 1 });
});

test("applications with a page that signs a browser out cost a sign-out three statements, and a look where there are none", async () => {
  const signedIn = async (clientId: string) => {
    const other = await registeredWith(`${clientId}@example.com`);
    const application = await openidApplication(server.url, { clientId, secret });
    await application.signIn(other);
    return other;
  };
  const aboutApplications = (sent: string[]) => sent.filter((statement) => /openid/.test(statement));
  const without = await signedIn("shop");
  const [, none] = await sentBy(() => without.request("/logout", { method: "POST" }));
  expect(aboutApplications(none)).toEqual([expect.stringMatching(/^select .* from "openid_sign_ins"/)]);
  const visitor = await signedIn("club");
  const [left, sent] = await sentBy(() => visitor.request("/logout", { method: "POST" }));
  expect(aboutApplications(sent)).toEqual([
    expect.stringMatching(/^select .* from "openid_sign_ins"/),
    expect.stringMatching(/^insert into "openid_artifacts"/),
  ]);
  const page = new URL(left.headers.get("x-provider-logout") ?? "");
  const [, shown] = await sentBy(() => visitor.request(page.pathname + page.search));
  expect(numbersOf(shown)).toEqual({ openid_applications_logout: 1 });
});

function numbersOf(sent: string[]): Record<string, number> {
  const groups = Object.entries(Object.groupBy(sent, (statement) => statement));
  return Object.fromEntries(groups.map(([statement, all]) => [statement, all?.length ?? 0]));
}
