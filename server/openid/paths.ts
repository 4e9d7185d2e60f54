/** The addresses of the provider below that of the tenant, by their names in the library. */
export const openidPaths = {
  authorization: "/oauth/authorize",
  code_verification: "/device",
  device_authorization: "/oauth/device",
  end_session: "/oauth/logout",
  introspection: "/oauth/introspect",
  jwks: "/.well-known/jwks.json",
  pushed_authorization_request: "/oauth/par",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  token: "/oauth/token",
  userinfo: "/oauth/userinfo",
} as const;

/** The page that signs a browser out of applications (OpenID Connect Front-Channel Logout 1.0). */
export const applicationsLogoutPath = `${openidPaths.end_session}/applications`;

/** Metadata of the provider (OpenID Connect Discovery, 4; RFC 8414, 3). */
export const discoveryPaths = [
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
] as const;

/** The address at which a browser returns to a request that waits for it. */
export function isResumePath(path: string): boolean {
  return path.startsWith(`${openidPaths.authorization}/`);
}
