import { decodeJwt } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { FlowClient } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  registeredBrowser,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** Services that act for users (RFC 8693) from outside: the built server, and `openid-client`. */

const secret = "a secret of a service that has enough characters";
const orders = "https://api.example.com/orders";
const stock = "https://api.example.com/stock";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

const client = { secret, redirect_uris: [REDIRECT_URI], scopes: ["openid", "stock:read"] };
const service = { secret, grants: ["token_exchange"], serves: [orders], scopes: ["stock:read"] };
const clients = {
  shop: { ...client, name: "Shop" },
  till: { ...client, name: "Till", subject_type: "pairwise" },
  bound: { ...client, name: "Bound", require_dpop: true },
  orders: {
    ...service,
    name: "Orders",
    access_token_claims: { user: "{{.User.UserID}}", kind: "service" },
  },
  proving: { ...service, name: "Orders, with a key", require_dpop: true },
};
const settings = {
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_PAIRWISE_SALT: "a salt that is as long as it has to be",
  STILE_OPENID_RESOURCES: JSON.stringify({
    [orders]: { scopes: ["stock:read"] },
    [stock]: { scopes: ["stock:read"] },
  }),
  STILE_OPENID_CLIENTS: JSON.stringify(clients),
};

let server: RunningServer;
let browser: FlowClient;
let shop: OpenidApplication;
let ordersService: OpenidApplication;

beforeAll(async () => {
  server = await startServer({
    env: {
      ...settings,
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  shop = await openidApplication(server.url, { clientId: "shop", secret });
  ordersService = await openidApplication(server.url, { clientId: "orders", secret });
  browser = await registeredBrowser(server, "ada@example.com");
});
afterAll(() => server.stop());

/** The access token by which an application calls the API of the orders. */
async function tokenOf(application: OpenidApplication, options?: openid.DPoPOptions): Promise<string> {
  const { url, checks } = await application.request({ scope: "openid stock:read", resource: orders });
  const returned = await visit(browser, url);
  const resource = { resource: orders };
  const tokens = await openid.authorizationCodeGrant(application.config, returned, checks, resource, options);
  return tokens.access_token;
}

const exchange = (
  { config }: OpenidApplication,
  subject_token: string,
  more: Record<string, string> = {},
  options?: openid.DPoPOptions,
) =>
  openid.genericGrantRequest(
    config,
    TOKEN_EXCHANGE,
    { subject_token, subject_token_type: ACCESS_TOKEN, resource: stock, ...more },
    options,
  );

test("a service gets a token for another API, and discovery names the grant", async () => {
  expect(shop.config.serverMetadata().grant_types_supported).toContain(TOKEN_EXCHANGE);
  const token = await tokenOf(shop);
  const given = await exchange(ordersService, token, { scope: "stock:read" });
  expect(given).toMatchObject({ issued_token_type: ACCESS_TOKEN, token_type: "bearer", scope: "stock:read" });
  expect(given).not.toHaveProperty("refresh_token");
  expect(given).not.toHaveProperty("id_token");
  expect(given.expires_in).toBeLessThanOrEqual(600);
  const { sub, acr, amr, auth_time, exp } = decodeJwt(token);
  const claims = decodeJwt(given.access_token);
  expect(claims).toMatchObject({ sub, acr, amr, auth_time, aud: stock, act: { sub: "orders" } });
  expect(claims).toMatchObject({ iss: server.url, client_id: "orders", kind: "service", user: sub });
  expect(claims.exp).toBeLessThanOrEqual(Number(exp));
  // No service exchanges tokens of this API.
  expect(claims).not.toHaveProperty("urn:stile:origin");
});

test("the user has the name by which the application knows them, and no other", async () => {
  const till = await openidApplication(server.url, { clientId: "till", secret });
  const token = await tokenOf(till);
  const { sub } = decodeJwt(token);
  expect(sub).not.toBe(decodeJwt(await tokenOf(shop)).sub);
  const { access_token } = await exchange(ordersService, token);
  expect(decodeJwt(access_token)).toMatchObject({ sub, user: sub });
});

test("a token is bound to the key of a service that has one, also where that of the application was", async () => {
  const key = await openid.randomDPoPKeyPair();
  const bound = await openidApplication(server.url, { clientId: "bound", secret });
  const subject = await tokenOf(bound, { DPoP: openid.getDPoPHandle(bound.config, key) });
  expect(decodeJwt(subject)).toHaveProperty("cnf.jkt");
  const proving = await openidApplication(server.url, { clientId: "proving", secret });
  await expect(exchange(proving, subject)).rejects.toMatchObject({ error: "invalid_grant" });
  const own = openid.getDPoPHandle(proving.config, await openid.randomDPoPKeyPair());
  const given = await exchange(proving, subject, {}, { DPoP: own });
  expect(given.token_type).toBe("dpop");
  expect(decodeJwt(given.access_token)).toHaveProperty("cnf.jkt", await own.calculateThumbprint());
  expect(decodeJwt((await exchange(ordersService, subject)).access_token)).not.toHaveProperty("cnf");
});

test("the grant is not offered where no client has it", async () => {
  const plain = await startServer({
    env: {
      ...settings,
      STILE_OPENID_CLIENTS: JSON.stringify({ shop: clients.shop }),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
    },
  });
  try {
    const application = await openidApplication(plain.url, { clientId: "shop", secret });
    expect(application.config.serverMetadata().grant_types_supported).not.toContain(TOKEN_EXCHANGE);
    await expect(exchange(application, "x")).rejects.toMatchObject({ error: "unsupported_grant_type" });
  } finally {
    await plain.stop();
  }
});

const withOrders = (more: object) => ({
  STILE_OPENID_CLIENTS: JSON.stringify({ orders: { ...service, name: "Orders", ...more } }),
});

test.each([
  ["without a secret", withOrders({ secret: undefined }), /needs a secret or jwks/],
  ["that is not the operator's own", withOrders({ first_party: false }), /operator's own/],
  ["that serves nothing", withOrders({ serves: [] }), /needs serves/],
  [
    "that serves an API without the grant",
    withOrders({ grants: ["client_credentials"] }),
    /has it for no other/,
  ],
  [
    "that serves an unknown API",
    withOrders({ serves: ["https://x.example"] }),
    /not in STILE_OPENID_RESOURCES/,
  ],
])("a configuration with a service %s is refused", (_, more, reason) => {
  expect(() => loadConfig({ ...settings, ...more }, "/nowhere")).toThrow(reason);
});
