import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import type { OpenidSettings } from "./settings.ts";

/**
 * `oidc-provider` alone, with its adapter in memory, in a process of its own: what the protocol costs without a database. Each
 * visitor is signed in at the first request. It takes its settings from its parent and sends its port.
 */
process.once("message", async ({ client, scope, claims }: OpenidSettings) => {
  const server = createServer();
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    cookies: { keys: ["a key of the benchmark alone"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    pkce: { required: () => true },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...claims }) }),
    features: { devInteractions: { enabled: false } },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
    async loadExistingGrant({ oidc }) {
      const { session, client: asking } = oidc;
      if (!session?.accountId || !asking) return undefined;
      const known = session.grantIdFor(asking.clientId);
      const found = known ? await provider.Grant.find(known) : undefined;
      if (found) return found;
      const grant = new provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope(scope);
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/sign-in/")) return void answer(request, response);
    // A user for each visitor.
    const accountId = `user-${Math.random().toString(36).slice(2)}`;
    void provider.interactionFinished(request, response, { login: { accountId } });
  });
  process.send?.({ port });
});
process.on("disconnect", () => process.exit(0));
