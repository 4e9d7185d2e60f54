import { Auth } from "@auth/core";
import { cookies, headers } from "next/headers";

export const stile = process.env.STILE_URL ?? "http://localhost:3000";
export const app = process.env.APP_URL ?? "http://localhost:4000";

export const clientId = "shop";

export const config = {
  basePath: "/api/auth",
  trustHost: true,
  secret: process.env.AUTH_SECRET,
  providers: [
    {
      id: "stile",
      name: "Stile",
      type: "oidc",
      issuer: stile,
      clientId,
      clientSecret: process.env.STILE_CLIENT_SECRET,
      client: { token_endpoint_auth_method: "client_secret_basic" },
      checks: ["pkce", "state", "nonce"],
      authorization: { params: { scope: "openid email" } },
      // The claims of scopes are in the answer of UserInfo.
      idToken: false,
    },
  ],
  callbacks: {
    // Signing out at Stile needs it as a hint.
    jwt: ({ token, account }) => (account ? { ...token, idToken: account.id_token } : token),
    session: ({ session, token }) => ({ ...session, idToken: token.idToken }),
  },
};

/** The session of the visitor, on the server; null without one. `idToken` does not leave it. */
export async function session() {
  const request = new Request(`${app}/api/auth/session`, {
    headers: { cookie: (await headers()).get("cookie") ?? "" },
  });
  return (await Auth(request, config)).json();
}

/** Ends the session of the application. */
export async function forget() {
  const jar = await cookies();
  for (const { name } of jar.getAll()) if (name.includes("authjs.session-token")) jar.delete(name);
}
