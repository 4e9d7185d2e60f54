import { createServer } from "node:http";
import type { RunningServer } from "../server/testing/server.ts";
import { type Authenticator, softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";
import { stile } from "./stile.ts";

/** A sample application whose customers confirm their orders at Stile, written from the documentation alone. */
export interface Shop {
  url: string;
  /** Registers a customer's passkey, in a software authenticator. */
  register(userId: string, name?: string): Promise<Authenticator>;
  /** Starts an order; returns the address of its confirmation page. */
  ask(userId: string, data: object): Promise<{ id: string; url: string }>;
  /** The result of an order. */
  receipts: Map<string, string>;
  jwks(): Promise<{ keys: { kid: string }[] }>;
  close(): Promise<void>;
}

/** Creates a tenant under a path with settings of its own; returns its id. */
export function makeTenant(server: RunningServer, settings: object): Promise<string> {
  const words = ["tenants", "create", "--name", "Otter Tools", "--config", "-"];
  return stile(server, words, JSON.stringify(settings));
}

const defaultTenant = "00000000-0000-4000-8000-000000000001";

export async function startShop(
  server: RunningServer,
  port: number,
  tenantId = defaultTenant,
): Promise<Shop> {
  const words = ["keys", "create", "--interface", "passkeys", "--tenant", tenantId];
  const key = await stile(server, words);
  const base = `${server.url}/passkeys/${tenantId}`;
  const url = `http://127.0.0.1:${port}`;
  const receipts = new Map<string, string>();

  async function call(path: string, body: unknown) {
    const answer = await fetch(base + path, {
      method: "POST",
      headers: { "content-type": "application/json", apiKey: key },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a client knows no types but those of the description.
    const parsed: any = await answer.json();
    return { ok: answer.ok, body: parsed };
  }

  async function callOrThrow(path: string, body: unknown) {
    const { ok, body: answer } = await call(path, body);
    if (!ok) throw new Error(JSON.stringify(answer));
    return answer;
  }

  async function handleReturn(query: URLSearchParams): Promise<string> {
    const id = query.get("transaction_id");
    if (query.get("error")) return `Not ordered: ${query.get("error")}`;
    const redeemed = await call("/transaction/redeem", { code: query.get("code") });
    if (!redeemed.ok || redeemed.body.transaction_id !== id) return "Rejected";
    receipts.set(redeemed.body.transaction_id, redeemed.body.receipt);
    return "Ordered";
  }

  const listener = createServer(async (request, response) => {
    const asked = new URL(request.url ?? "/", url);
    const title = asked.pathname === "/back" ? await handleReturn(asked.searchParams) : "Shop";
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>${title}</h1>`);
  });
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));

  return {
    url,
    receipts,
    async register(userId, name = userId) {
      const authenticator = softwareAuthenticator();
      const user = { user_id: userId, username: `${userId}@example.com`, display_name: name };
      const options = await callOrThrow("/registration/initialize", user);
      await callOrThrow("/registration/finalize", authenticator.create(options, { origin: server.url }));
      return authenticator;
    },
    async ask(userId, data) {
      const id = `order-${crypto.randomUUID()}`;
      const confirmation = { redirect_to: `${url}/back` };
      const order = { user_id: userId, transaction_id: id, transaction_data: data, confirmation };
      const { confirmation_url } = await callOrThrow("/transaction/initialize", order);
      return { id, url: confirmation_url };
    },
    async jwks() {
      return (await fetch(`${base}/.well-known/jwks.json`)).json() as Promise<{ keys: { kid: string }[] }>;
    },
    close() {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };
}
