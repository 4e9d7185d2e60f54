import { sealData, unsealData } from "iron-session";
import type { Config } from "../../config/schema.ts";
import type { FlowType } from "../../flow/names.ts";
import type { Runtime } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { cookieValues, isSecure, setCookie } from "../cookies.ts";
import { pathPrefix } from "../tenant-path.ts";
import type { Destination } from "./destination.ts";

/** What our own page remembers of its flow. No script sees it: it rests sealed in a cookie. */
export interface PageFlow {
  flowId: string;
  /** The newest `csrf_token` that the page was answered. */
  token: string;
  /** Shows the flow again when an answer, and the token in it, was lost. */
  resume: string;
  /** Binds a sign-in at a third party to this browser (RFC 7636). */
  codeVerifier: string;
  /** Set when the person has signed in: the version of the last state. */
  finished?: number;
  /** Where the person was sent then. */
  redirectTo?: string;
}

/** One sealed cookie for each of these, in each tenant. */
type Contents = Record<FlowType, PageFlow> & { destination: Destination };

type Sealed<Name extends keyof Contents> = { tenant: string; name: Name; value: Contents[Name] };

/** Flow rows outlive their expiry by a day, so that an expired flow can be told from one that never was. */
const GRACE = 24 * 3600;

/**
 * `__Host-` keeps sibling hosts from planting a flow of their own (RFC 6265bis, 4.1.3.2). Browsers allow it to
 * cookies of the whole host alone; the seal holds a flow to its tenant either way.
 */
function cookieName(name: keyof Contents, config: Config): string {
  const prefix = pathPrefix(config) === "" ? "__Host-" : "__Secure-";
  return `${isSecure(config) ? prefix : ""}stile-${name}`;
}

/** Browsers drop a cookie beyond so many bytes without a word (RFC 6265bis, 5.6). */
const LONGEST = 4096;

/** @param cookie a `Set-Cookie` value */
export function fitsBrowsers(cookie: string): boolean {
  return Buffer.byteLength(cookie) <= LONGEST;
}

function lifetime(config: Config): number {
  return config.flow.lifetime + GRACE;
}

/**
 * Opens the sealed cookie of this name.
 *
 * @param cookies the `Cookie` header
 * @returns null when there is none that was sealed here, for this tenant, and in time
 */
export async function openPageCookie<Name extends FlowType | "destination">(
  { vault }: Runtime,
  tenant: Tenant,
  name: Name,
  cookies: string | null,
): Promise<Contents[Name] | null> {
  for (const seal of cookieValues(cookies, cookieName(name, tenant.config))) {
    const opened = await unsealData<Sealed<Name> | Record<string, never>>(seal, {
      password: vault.passwords("page cookie").unsealing,
      ttl: lifetime(tenant.config),
    });
    if (opened.tenant === tenant.id && opened.name === name) return opened.value;
  }
  return null;
}

/**
 * Seals a value into its cookie.
 *
 * @param maxAge seconds; the browser keeps it, and the seal holds, for so long: by default a flow's life and a day
 * @returns a `Set-Cookie` value
 */
export async function pageCookie<Name extends FlowType | "destination">(
  { vault }: Runtime,
  tenant: Tenant,
  name: Name,
  value: Contents[Name],
  maxAge = lifetime(tenant.config),
): Promise<string> {
  const { config } = tenant;
  const sealed: Sealed<Name> = { tenant: tenant.id, name, value };
  const seal = await sealData(sealed, {
    password: vault.passwords("page cookie").sealing,
    ttl: maxAge,
  });
  return setCookie(config, cookieName(name, config), seal, {
    maxAge,
    sameSite: "lax",
    secure: isSecure(config),
  });
}

/** Takes a cookie back. */
export function expiredPageCookie(tenant: Tenant, name: FlowType | "destination"): string {
  return setCookie(tenant.config, cookieName(name, tenant.config), "", {
    maxAge: 0,
    sameSite: "lax",
    secure: isSecure(tenant.config),
  });
}
