import type { Connection } from "./connection.ts";
import { StileError } from "./error.ts";
import { headerOf, type IncomingRequest } from "./session.ts";

/** An API whose callers show access tokens of the service. */
export interface ResourceOptions {
  /**
   * Its resource indicator (RFC 8707, 2): the absolute address that clients ask tokens for, spelled as in `openid.resources`.
   */
  resource: string;
  /** The scopes that it knows, for clients (`scopes_supported`). */
  scopes?: readonly string[];
  /** Its name, for users (`resource_name`). */
  name?: string;
  /** Address of a description for developers (`resource_documentation`). */
  documentation?: string;
  /** Address of its metadata; default: that of RFC 9728, 3.1. */
  metadataUrl?: string;
}

/** The metadata of an API, from which clients learn where to ask for tokens (RFC 9728, 2). */
export interface ResourceMetadata {
  resource: string;
  authorization_servers: string[];
  bearer_methods_supported: ["header"];
  scopes_supported?: string[];
  resource_name?: string;
  resource_documentation?: string;
}

/** What a verified access token says. */
export interface Access {
  /** The user; null for a client that acts for itself. */
  userId: string | null;
  clientId: string;
  scopes: string[];
  expiresAt: Date;
  /** The claims of the token. */
  claims: Record<string, unknown>;
}

/** What an operation of the API needs. An empty list asks for nothing. */
export interface AccessNeeds {
  /** The token needs all of them. */
  scopes?: readonly string[];
  /** Authentication context classes; the sign-in has to be of one of them (`acr`). */
  acr?: string | readonly string[];
  /** Whole seconds since the user signed in (`auth_time`), at most. */
  maxAge?: number;
}

/**
 * The answer to a request without sufficient access (RFC 6750, 3; RFC 9470, 3): `Response.json(refusal.body, refusal)` on the
 * web platform.
 */
export interface Refusal {
  ok: false;
  status: 401 | 403;
  headers: { "WWW-Authenticate": string };
  body: { error?: string; error_description?: string };
}

export type VerifiedAccess = { ok: true; access: Access } | Refusal;

/** An API, protected. */
export interface ProtectedResource {
  /** To be served as JSON at `metadataUrl`. */
  metadata: ResourceMetadata;
  metadataUrl: string;
  /** Path and query of `metadataUrl`, for routers: `/.well-known/oauth-protected-resource/orders`. */
  metadataPath: string;
  /**
   * Verifies the access token of a request (`Authorization: Bearer`), or an access token: signature by the published keys, `typ`,
   * issuer, audience and times (RFC 9068, 4), then what the operation needs. A token that is bound to a key (DPoP) is refused,
   * because its proof is not checked here.
   *
   * @throws StileError if the keys cannot be read
   */
  verify(
    presented: IncomingRequest | string | null | undefined,
    needs?: AccessNeeds,
  ): Promise<VerifiedAccess>;
}

/**
 * Protects an API by access tokens of the service.
 *
 * @throws StileError if `resource` or `metadataUrl` is not an absolute address without a fragment (RFC 8707, 2)
 */
export function protectResource(
  { base, verify }: Pick<Connection, "base" | "verify">,
  { resource, scopes, name, documentation, ...options }: ResourceOptions,
): ProtectedResource {
  // Also where the address of the metadata is given: without an audience, a token of any API would be accepted.
  const atResource = addressOf("resource", resource);
  const { metadataUrl = metadataAddress(atResource) } = options;
  const atMetadata = addressOf("metadataUrl", metadataUrl);

  const refuse = (status: Refusal["status"], error: string, description: string, more = {}): Refusal => ({
    ok: false,
    status,
    headers: {
      "WWW-Authenticate": challenge({
        error,
        error_description: description,
        ...more,
        resource_metadata: metadataUrl,
      }),
    },
    body: { error, error_description: description },
  });

  return {
    metadataUrl,
    metadataPath: atMetadata.pathname + atMetadata.search,
    metadata: {
      resource,
      authorization_servers: [base],
      bearer_methods_supported: ["header"],
      ...(scopes ? { scopes_supported: [...scopes] } : {}),
      ...(name === undefined ? {} : { resource_name: name }),
      ...(documentation === undefined ? {} : { resource_documentation: documentation }),
    },
    async verify(presented, { scopes: needed = [], acr = [], maxAge } = {}) {
      const classes = typeof acr === "string" ? [acr] : acr;
      const token = typeof presented === "string" ? presented : presented && bearerOf(presented);
      if (!token) {
        const asked = needed.length > 0 ? needed : (scopes ?? []);
        const scope = asked.length > 0 ? { scope: asked.join(" ") } : {};
        const headers = { "WWW-Authenticate": challenge({ ...scope, resource_metadata: metadataUrl }) };
        return { ok: false, status: 401, headers, body: {} };
      }
      const verified = await verify(token, {
        typ: "at+jwt",
        issuer: base,
        audience: resource,
        requiredClaims: ["sub", "client_id", "iat", "exp"],
      });
      if (!verified.ok) return refuse(401, "invalid_token", `The access token is ${verified.reason}.`);
      const { sub, client_id: clientId, scope, exp, cnf, acr: met, auth_time: signedInAt } = verified.claims;
      if (typeof sub !== "string" || typeof clientId !== "string" || typeof exp !== "number")
        return refuse(401, "invalid_token", "The access token is invalid.");
      if (cnf !== undefined)
        return refuse(
          401,
          "invalid_token",
          "The access token is bound to a key, and no proof of the key is verified here.",
        );
      const granted = typeof scope === "string" ? scope.split(" ").filter((each) => each !== "") : [];
      if (!needed.every((each) => granted.includes(each)))
        return refuse(403, "insufficient_scope", "The access token lacks a scope that is needed.", {
          scope: needed.join(" "),
        });
      const isStrong = classes.length === 0 || (typeof met === "string" && classes.includes(met));
      const age = typeof signedInAt === "number" ? Date.now() / 1000 - signedInAt : Number.POSITIVE_INFINITY;
      const isFresh = maxAge === undefined || Math.floor(age) <= maxAge;
      // Names both needs, also if one is met: a sign-in that is only fresher may be weaker than the one before.
      if (!isStrong || !isFresh)
        return refuse(
          401,
          "insufficient_user_authentication",
          "A stronger or more recent sign-in is needed.",
          {
            ...(classes.length > 0 ? { acr_values: classes.join(" ") } : {}),
            ...(maxAge === undefined ? {} : { max_age: String(maxAge) }),
          },
        );
      return {
        ok: true,
        access: {
          // The token of client credentials has the client as its subject (RFC 9068, 2.2).
          userId: sub === clientId ? null : sub,
          clientId,
          scopes: granted,
          expiresAt: new Date(exp * 1000),
          claims: verified.claims,
        },
      };
    },
  };
}

/** @throws StileError if it is not an absolute address without a fragment */
function addressOf(option: "resource" | "metadataUrl", address: unknown): URL {
  if (typeof address !== "string" || !/^https?:\/\/[^\s#]+$/i.test(address) || !URL.canParse(address))
    throw new StileError(`\`${option}\` must be an absolute address (http or https) without a fragment.`);
  return new URL(address);
}

/** The address of an API's metadata: a well-known path between host and path (RFC 9728, 3.1). */
function metadataAddress({ origin, pathname, search }: URL): string {
  return `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}${search}`;
}

/** The bearer token of a request (RFC 6750, 2.1). */
function bearerOf(request: IncomingRequest): string | undefined {
  const [, token] = /^Bearer +([^ ,]+)$/i.exec(headerOf(request, "authorization") ?? "") ?? [];
  return token;
}

/** A challenge with its parameters as quoted strings (RFC 9110, 5.6.4 and 11.2). */
function challenge(parameters: Record<string, string>): string {
  const quoted = Object.entries(parameters).map(
    ([name, value]) => `${name}="${value.replace(/[^\x20-\x7e]/g, "").replace(/["\\]/g, "\\$&")}"`,
  );
  return `Bearer ${quoted.join(", ")}`;
}
