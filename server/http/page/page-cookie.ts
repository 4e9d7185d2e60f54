import { sealData, unsealData } from "iron-session";
import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { type FlowType, flowTypes } from "../../flow/names.ts";
import { UnknownKeyError } from "../../keys/vault.ts";
import type { Runtime } from "../../runtime.ts";
import { cookieValues, formatCookie, isSecure } from "../request/cookies.ts";
import { pathPrefix } from "../request/tenant-path.ts";
import type { Destination } from "./destination.ts";
import { type Frame, isSameFrame } from "./frame.ts";
import type { Notice } from "./notice.ts";

/** The hosted page's flow, stored in a sealed cookie that no script can read. */
export interface PageFlow {
  flowId: string;
  /** The newest `csrf_token`. */
  token: string;
  /** Reads the flow again after an answer, and the token in it, was lost. */
  resume: string;
  /** Binds a third-party sign-in to this browser (RFC 7636). */
  codeVerifier: string;
  /** Version of the last state, once the user has signed in. */
  finished?: number;
  /** Address that the browser was sent to then. */
  redirectTo?: string;
  /** The page in whose frame the flow was started. */
  frame?: Frame;
  /** S256 challenge of the page of another origin that started the flow: it receives a code. */
  codeChallenge?: string;
}

/** Contents of the sealed cookies of a tenant, by name. */
type Contents = Record<FlowCookie, PageFlow> & {
  destination: Destination;
  codes: NewCodes;
  authorization: ShownAuthorization;
  notice: Notice;
};

/** The name of the cookie of a flow: its type, with a prefix for a flow of a frame. */
export type FlowCookie = FlowType | `frame-${FlowType}`;

export const flowCookie = (type: FlowType, frame: Frame | undefined): FlowCookie =>
  frame ? `frame-${type}` : type;

/** Recovery codes that the next page displays, once. */
export interface NewCodes {
  flowId: string;
  /** Version of the state that shows them. */
  version: number;
  codes: string[];
}

/**
 * The authorization request that the page asks its user about, or the device whose code it asks for, as far as it is known.
 * `signsIn`: the user is on the way to sign in.
 */
export type ShownAuthorization = { request: string } | { userCode: string; signsIn?: true };

type Sealed<Name extends keyof Contents> = { tenant: string; name: Name; value: Contents[Name] };

/** Flow rows are kept for a day after expiry, so that an expired flow differs from an unknown one. */
const GRACE_SECONDS = 24 * 3600;

/**
 * `__Host-` prevents sibling hosts from planting a flow (RFC 6265bis, 4.1.3.2). Browsers allow the prefix only for
 * cookies of the whole host, so the tenant's id in the name separates tenants that share it. The seal binds the cookie
 * to its tenant as well.
 */
function cookieName(name: keyof Contents, { id, config }: Tenant): string {
  return `${isSecure(config) ? "__Host-" : ""}stile-${name}-${id}`;
}

/**
 * The name before version 0.3, under which flows in progress are still found. Not over https for a tenant under a path:
 * its cookies had no `__Host-`, so they can be planted.
 */
function formerCookieName(name: keyof Contents, { config }: Tenant): string | null {
  if (!isSecure(config)) return `stile-${name}`;
  return pathPrefix(config) === "" ? `__Host-stile-${name}` : null;
}

/** Browsers silently drop larger cookies (RFC 6265bis, 5.6). */
const MAX_COOKIE_BYTES = 4096;

/** @param cookie a `Set-Cookie` value */
export function fitsBrowsers(cookie: string): boolean {
  return Buffer.byteLength(cookie) <= MAX_COOKIE_BYTES;
}

/** How long what holds a flow is kept, in seconds. */
export function flowSeconds(config: Config): number {
  return config.flow.lifetime + GRACE_SECONDS;
}

/**
 * Opens the sealed cookie of this name.
 *
 * @param cookies the `Cookie` header
 * @returns null if no cookie of this name was sealed by this service, for this tenant, within its lifetime
 */
export async function openPageCookie<Name extends keyof Contents>(
  { vault }: Runtime,
  tenant: Tenant,
  name: Name,
  cookies: string | null,
): Promise<Contents[Name] | null> {
  const names = [cookieName(name, tenant), formerCookieName(name, tenant)];
  for (const seal of names.flatMap((cookie) => (cookie === null ? [] : cookieValues(cookies, cookie)))) {
    const opened = await unsealData<Sealed<Name> | Record<string, never>>(seal, {
      password: vault.passwords("page cookie").unsealing,
      ttl: flowSeconds(tenant.config),
    });
    if (opened.tenant === tenant.id && opened.name === name) return opened.value;
  }
  return null;
}

/** Opens the cookie of the flow that a page displays; null also if it is of another frame, or of another sign-in there. */
export async function openFlowCookie(
  runtime: Runtime,
  tenant: Tenant,
  { type, frame, cookies }: { type: FlowType; frame: Frame | undefined; cookies: string | null },
): Promise<PageFlow | null> {
  const flow = await openPageCookie(runtime, tenant, flowCookie(type, frame), cookies);
  return flow && frame && !(flow.frame && isSameFrame(flow.frame, frame)) ? null : flow;
}

/**
 * Checks that the cookies of this name were sealed with configured keys, where none could be opened.
 *
 * @throws UnknownKeyError otherwise: another server may be able to open them
 */
export function assertKnownPageCookie(
  { vault }: Runtime,
  tenant: Tenant,
  name: FlowCookie | "destination",
  cookies: string | null,
): void {
  assertKnownSeals(cookieValues(cookies, cookieName(name, tenant)), vault.passwords("page cookie").unsealing);
}

/** @throws UnknownKeyError for a seal that was made with a key that is not configured */
export function assertKnownSeals(seals: readonly string[], unsealing: Record<string, string>): void {
  for (const seal of seals) {
    // iron-session's format: version, id of the password, and the rest.
    const [, id] = /^Fe26\.2\*(\d{1,10})\*/.exec(seal) ?? [];
    if (id !== undefined && !Object.hasOwn(unsealing, id)) throw new UnknownKeyError(hexIdOf(id), "client");
  }
}

/** The beginning of a key's id, which the id of its password repeats as a number. */
const hexIdOf = (passwordId: string) => Number(passwordId).toString(16).padStart(8, "0");

/**
 * Seals a value into its cookie.
 *
 * @param maxAge lifetime of the cookie and the seal in seconds; default: the lifetime of a flow and a day
 * @returns a `Set-Cookie` value
 */
export async function pageCookie<Name extends keyof Contents>(
  { vault }: Runtime,
  tenant: Tenant,
  name: Name,
  value: Contents[Name],
  maxAge = flowSeconds(tenant.config),
): Promise<string> {
  const { config } = tenant;
  const sealed: Sealed<Name> = { tenant: tenant.id, name, value };
  const seal = await sealData(sealed, {
    password: vault.passwords("page cookie").sealing,
    ttl: maxAge,
  });
  return formatCookie(config, cookieName(name, tenant), seal, { ...attributes(name, config), maxAge });
}

/** Removes a cookie. */
export function expiredPageCookie(tenant: Tenant, name: keyof Contents): string {
  const { config } = tenant;
  return formatCookie(config, cookieName(name, tenant), "", { ...attributes(name, config), maxAge: 0 });
}

/** Removes what the hosted page keeps of its visitor, who signs out. */
export const expiredPageCookies = (tenant: Tenant): string[] =>
  ([...flowTypes, "destination", "authorization"] as const).map((name) => expiredPageCookie(tenant, name));

/** A frame of another site has cookies of its own: partitioned, and therefore always `Secure`. */
const attributes = (name: keyof Contents, config: Config) =>
  name.startsWith("frame-")
    ? { path: "/", sameSite: "none" as const, secure: true, partitioned: true }
    : { path: "/", sameSite: "lax" as const, secure: isSecure(config) };
