import type { Connection } from "./connection.ts";
import { StileError } from "./error.ts";

/** A verified session. */
export interface Session {
  userId: string;
  sessionId: string;
  expiresAt: Date;
  /** The claims of the token, those of `session.jwt_template` among them. */
  claims: Record<string, unknown>;
  /** The primary address of the account, as the service tells it; absent with `tokenOnly`. */
  email?: string;
  /** The same for the name. */
  username?: string;
}

/** `ended`: the token is genuine, and its session has ended, or its cookie was copied from another device. */
export type VerifiedSession =
  | { ok: true; session: Session }
  | { ok: false; reason: "missing" | "invalid" | "expired" | "ended" };

/** A token, and what came with it. */
interface Presented {
  token: string;
  /** The cookie that binds the session to its device, for a token of the session cookie; null if it was not there. */
  boundToken?: string | null;
}

/** A request of the web platform, or of Node, Express and the like. */
export type IncomingRequest =
  | Pick<Request, "headers">
  | { headers: Record<string, string | string[] | undefined> };

/**
 * Verifies the session of a request, or a session token: signature, `typ`, issuer, audience and times by the published
 * keys, then the session itself at the service, unless `tokenOnly` is set. A token stays genuine until it expires, also
 * after a logout.
 *
 * @throws StileError if the service does not answer
 */
export async function verifySession(
  { verify, send }: Pick<Connection, "verify" | "send">,
  presented: IncomingRequest | string | null | undefined,
  { tokenOnly = false, cookieName = "service" }: { tokenOnly?: boolean; cookieName?: string } = {},
): Promise<VerifiedSession> {
  const found = tokenIn(presented, cookieName);
  if (!found) return { ok: false, reason: "missing" };
  const { token, boundToken } = found;
  const verified = await verify(token, { typ: "JWT", requiredClaims: ["sub", "session_id", "iat", "exp"] });
  if (!verified.ok) return verified;
  const { claims } = verified;
  const { sub, session_id: sessionId, exp } = claims;
  if (typeof sub !== "string" || typeof sessionId !== "string" || typeof exp !== "number")
    return { ok: false, reason: "invalid" };
  const person: Pick<Session, "email" | "username"> = {};
  if (!tokenOnly) {
    const { body } = await send("POST", "/sessions/validate", {
      body: { session_token: token, ...(boundToken === undefined ? {} : { bound_token: boundToken }) },
    });
    const { is_valid: isValid, claims: told } = (body ?? {}) as Validation;
    if (typeof isValid !== "boolean") throw new StileError("Stile answers in an unknown form.");
    if (!isValid) return { ok: false, reason: "ended" };
    if (typeof told?.email?.address === "string") person.email = told.email.address;
    if (typeof told?.username === "string") person.username = told.username;
  }
  return {
    ok: true,
    session: { userId: sub, sessionId, expiresAt: new Date(exp * 1000), claims, ...person },
  };
}

/** The answer of `POST /sessions/validate`, which may be that of another server. */
interface Validation {
  is_valid?: unknown;
  claims?: { email?: { address?: unknown }; username?: unknown };
}

/** What is left to do after the end of a session. */
export interface EndedSession {
  /** The address to send the browser to, so that its sessions at applications and at the identity provider end too; null if none does. */
  nextUrl: string | null;
}

/**
 * Ends the session of a request, or of a session token (`POST /logout`).
 *
 * @throws StileError if the service does not answer
 */
export async function endSession(
  { send }: Pick<Connection, "send">,
  presented: IncomingRequest | string | null | undefined,
  { cookieName = "service", redirectTo }: { cookieName?: string; redirectTo?: string | undefined } = {},
): Promise<EndedSession> {
  const found = tokenIn(presented, cookieName);
  if (!found) return { nextUrl: null };
  try {
    const { headers } = await send("POST", "/logout", {
      key: found.token,
      query: { redirect_to: redirectTo },
    });
    return { nextUrl: headers.get("x-provider-logout") };
  } catch (error) {
    // No session of that token is live: it has ended already.
    if (error instanceof StileError && error.status === 401) return { nextUrl: null };
    throw error;
  }
}

function tokenIn(
  presented: IncomingRequest | string | null | undefined,
  cookieName: string,
): Presented | null {
  if (!presented) return null;
  return typeof presented === "string" ? { token: presented } : tokenOf(presented, cookieName);
}

/** The bearer token (RFC 6750, 2.1), or the session cookie. */
function tokenOf(request: IncomingRequest, cookieName: string): Presented | null {
  const [, bearer] = /^Bearer +([^ ]+)$/i.exec(headerOf(request, "authorization") ?? "") ?? [];
  if (bearer) return { token: bearer };
  const token = cookieOf(request, cookieName);
  return token ? { token, boundToken: cookieOf(request, `${cookieName}-bound`) } : null;
}

/** The value of a cookie; null without one. */
function cookieOf(request: IncomingRequest, name: string): string | null {
  const values = (headerOf(request, "cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  // Two cookies of one name: one of them may be planted.
  return values.length === 1 ? (values[0] ?? null) : null;
}

/** Also headers of another realm or library. */
function isHeaders(headers: IncomingRequest["headers"]): headers is Headers {
  return typeof headers.get === "function";
}

/** @param name in lower case */
export function headerOf({ headers }: IncomingRequest, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  // Node writes names in lower case; functions of clouds receive them as they were sent.
  const values = Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === name ? (value ?? []) : [],
  );
  return values.length > 0 ? values.join(", ") : undefined;
}
