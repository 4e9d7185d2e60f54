import { oauthProvider } from "@better-auth/oauth-provider";
import { jwt } from "better-auth/plugins";
import { serve } from "./serve.js";

/**
 * better-auth's OpenID provider in a process of its own, as its documentation sets it up for an application of the operator's own:
 * a trusted client, which is kept in memory and asks for no consent. It takes its settings from its parent (`OpenidSettings`, and
 * `databaseUrl`) and sends its port.
 */
process.once("message", async ({ databaseUrl, client, scope }) => {
  const options = {
    // The provider has a token endpoint of its own, as its documentation says.
    disabledPaths: ["/token"],
    // A session is read with its user in one statement; off by default.
    advanced: { database: { joins: true } },
    plugins: [
      // The algorithm that Stile signs with by default; better-auth's own is EdDSA.
      jwt({ jwks: { keyPairConfig: { alg: "RS256" } } }),
      oauthProvider({
        loginPage: "/sign-in",
        consentPage: "/consent",
        cachedTrustedClients: new Set([client.id]),
        generateClientId: () => client.id,
        generateClientSecret: () => client.secret,
      }),
    ],
  };
  await serve(databaseUrl, options, async ({ api }) => {
    const operator = { name: "Operator", email: "operator@example.com", password: "correct horse battery" };
    const { headers } = await api.signUpEmail({ body: operator, returnHeaders: true });
    const cookie = headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
    await api.adminCreateOAuthClient({
      headers: new Headers({ cookie }),
      body: {
        client_name: "Shop",
        redirect_uris: [client.redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        scope: `${scope} offline_access`,
        skip_consent: true,
      },
    });
  });
});
