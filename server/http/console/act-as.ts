import { sealData, unsealData } from "iron-session";
import { beginImpersonation, type GrantedImpersonation } from "../../admin/impersonation.ts";
import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { consoleOrigin } from "../../console/place.ts";
import { codeChallengeOf, codeChallengePattern, isVerifierOf } from "../../lib/pkce.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { Runtime } from "../../runtime.ts";
import { registerUse } from "../../sessions/single-use.ts";
import { messagePage } from "../answer/message-page.ts";
import { actAsGone, actAsPage, missingAddress } from "../answer/messages.ts";
import { type Reply, redirect } from "../answer/reply.ts";
import { expiredPageCookies } from "../page/page-cookie.ts";
import { formError, pageAddress } from "../page/step.ts";
import { readText } from "../request/body.ts";
import { cookieValues, formatCookie, isSecure } from "../request/cookies.ts";
import { withinTenant } from "../request/tenant-path.ts";
import { everyPresentedSession } from "../session/presented-session.ts";
import { sessionHeaders } from "../session/session-cookie.ts";
import { type Handler, type HandlerContext, requestContextOf } from "../table/handler-context.ts";
import { isOfConsole } from "./sign-in.ts";
import { presentedVisitor } from "./visitor.ts";

/**
 * The way from the console to the page of a user, in one browser. The console may be on another host than the tenant, and neither
 * gets the cookies of the other: so the tenant's host makes a secret for this browser and the console a code for that (RFC 7636,
 * the other way round). The user's session begins with the press of a button, which names what becomes of another session there.
 */

export const ACT_AS_PATH = "/api/console/act-as";

/** At the host of the tenant. */
export const IMPERSONATION_PATH = "/impersonation";

/** How long a link or a code is valid. */
const LIFETIME_SECONDS = 60;

/** How long after its link was made a code can be valid. */
const MAX_CODE_SECONDS = 2 * LIFETIME_SECONDS;

/** How long the browser keeps what it is known by on the way. */
const COOKIE_SECONDS = MAX_CODE_SECONDS;

/** A link of the console, sealed. */
interface Ticket {
  /** Random. The browser of the console has it in a cookie meanwhile, and it is used once. */
  id: string;
  tenantId: string;
  granted: GrantedImpersonation;
  /** Milliseconds since 1970. The seal itself allows clocks to differ by a minute. */
  expiresAt: number;
}

/** The same for the browser with the secret that belongs to the challenge. */
type Code = Ticket & { challenge: string };

type Purpose = "impersonation link" | "impersonation code";

const seal = <Value extends Ticket>(
  { vault, platform }: Runtime,
  value: Omit<Value, "expiresAt">,
  purpose: Purpose,
): Promise<string> => {
  const expiresAt = Date.now() + platform.clockShift() + LIFETIME_SECONDS * 1000;
  const password = vault.passwords(purpose).sealing;
  return sealData({ ...value, expiresAt }, { password, ttl: LIFETIME_SECONDS });
};

/** @returns null for what is not sealed by this service for the purpose, or too old */
async function open<Value extends Ticket>(
  { vault, platform }: Runtime,
  [sealed, ...others]: string[],
  purpose: Purpose,
): Promise<Value | null> {
  if (sealed === undefined || others.length > 0 || sealed.length > MAX_SEALED_CHARACTERS) return null;
  const options = { password: vault.passwords(purpose).unsealing, ttl: LIFETIME_SECONDS };
  const opened = await unsealData<Partial<Value>>(sealed, options);
  const isValid = (opened.expiresAt ?? 0) > Date.now() + platform.clockShift();
  return opened.id !== undefined && isValid ? (opened as Value) : null;
}

/** What is sealed has a reason and a name of bounded lengths. */
const MAX_SEALED_CHARACTERS = 6000;

/** Makes the link of the console by which its browser goes to the user's page, once and within a minute. */
export async function actingLink(
  runtime: Runtime,
  tenant: Pick<Tenant, "id">,
  granted: GrantedImpersonation,
): Promise<string> {
  const ticket = { id: randomToken(runtime.platform), tenantId: tenant.id, granted };
  const sealed = await seal<Ticket>(runtime, ticket, "impersonation link");
  return `${consoleOrigin(runtime.config)}${ACT_AS_PATH}?ticket=${sealed}`;
}

/** The browser of the console goes to the tenant, and again with the challenge of the tenant's host. */
export const actAsHandler: Handler = async (context) => {
  const { runtime, url, cookies, request } = context;
  const { config, tenant: defaultTenant, tenants } = runtime;
  if (!isOfConsole(context)) return messagePage(404, request.headers, config, missingAddress);
  const sealed = url.searchParams.getAll("ticket");
  const ticket = await open<Ticket>(runtime, sealed, "impersonation link");
  if (!ticket) return gone(context);
  const { id, tenantId, granted } = ticket;
  const tenant = tenantId === defaultTenant.id ? defaultTenant : await tenants.byId(tenantId);
  if (!tenant) return gone(context);
  const page = new URL(tenant.config.base_url + IMPERSONATION_PATH);
  const challenge = url.searchParams.get("challenge");
  if (challenge === null) {
    const visitor = await presentedVisitor(runtime, cookies);
    if (visitor?.consoleSessionId !== granted.impersonation.consoleSessionId) return gone(context);
    page.searchParams.set("ticket", sealed[0] ?? "");
    return away(page.href, [wayCookie(config, id, COOKIE_SECONDS)]);
  }
  // The way leads through another site, so that the browser sends no `Strict` cookie any more.
  if (!cookieValues(cookies, wayCookieName(config)).includes(id) || !codeChallengePattern.test(challenge))
    return gone(context);
  const code = { ...ticket, challenge };
  page.searchParams.set("code", await seal<Code>(runtime, code, "impersonation code"));
  return away(page.href, [wayCookie(config, "", 0)]);
};

/** At the tenant: makes the secret of this browser, and then asks whether to go on. Writes nothing. */
export const impersonationPageHandler: Handler = async (context) => {
  const { runtime, tenant, url, request } = context;
  const sealed = url.searchParams.getAll("ticket");
  if (sealed.length > 0) {
    const ticket = await open<Ticket>(runtime, sealed, "impersonation link");
    if (ticket?.tenantId !== tenant.id) return gone(context);
    const verifier = randomToken(runtime.platform);
    const target = new URL(consoleOrigin(runtime.config) + ACT_AS_PATH);
    target.searchParams.set("ticket", sealed[0] ?? "");
    target.searchParams.set("challenge", codeChallengeOf(verifier));
    return away(target.href, [verifierCookie(tenant, verifier, COOKIE_SECONDS)]);
  }
  const codes = url.searchParams.getAll("code");
  const code = await openedHere(context, codes);
  if (!code) return gone(context);
  const { granted } = code;
  const press = {
    action: withinTenant(tenant.config, IMPERSONATION_PATH),
    fields: { code: codes[0] ?? "" },
  };
  const hasOther = (await everyPresentedSession(context)).length > 0;
  return messagePage(200, request.headers, tenant.config, actAsPage(granted, hasOther, press), private_);
};

/** The press: begins the session. The browser's other session goes on elsewhere, as that of the console does with it. */
export const impersonationHandler: Handler = async (context) => {
  const { runtime, tenant, client } = context;
  const text = await readText(context.request, "application/x-www-form-urlencoded");
  if (!text.ok) return formError(text.reason);
  const code = await openedHere(context, new URLSearchParams(text.value).getAll("code"));
  if (!code) return gone(context);
  const { id, granted } = code;
  // First, so that two presses begin one session.
  if (!(await registerUse({ runtime, tenant }, { id, seconds: MAX_CODE_SECONDS }))) return gone(context);
  const { tenantId, userId } = granted.impersonation;
  const acting = { ...context, client: { ...client, operator: { tenantId, userId } } };
  const begun = await beginImpersonation(await requestContextOf(acting), granted);
  if (!begun.ok) return gone(context);
  const { headers, cookies } = sessionHeaders(context, begun.issued);
  return redirect(303, withinTenant(tenant.config, pageAddress("profile")), {
    headers,
    cookies: [...cookies, verifierCookie(tenant, "", 0), ...expiredPageCookies(tenant)],
  });
};

/** Opens a code of this tenant in the browser that it was made for. */
async function openedHere(
  { runtime, tenant, cookies }: HandlerContext,
  sealed: string[],
): Promise<Code | null> {
  const code = await open<Code>(runtime, sealed, "impersonation code");
  if (code?.tenantId !== tenant.id) return null;
  const verifiers = cookieValues(cookies, verifierCookieName(tenant)).slice(0, MAX_VERIFIERS);
  return verifiers.some((verifier) => isVerifierOf(code.challenge, verifier)) ? code : null;
}

/** A sibling host may have planted others. */
const MAX_VERIFIERS = 4;

/** The addresses on the way hold what is sealed for this browser. */
const private_ = { "Referrer-Policy": "strict-origin", "X-Robots-Tag": "noindex, nofollow" };

const away = (address: string, cookies: string[]): Reply =>
  redirect(303, address, { cookies, headers: { "Referrer-Policy": "no-referrer" } });

const gone = ({ request, tenant }: HandlerContext): Reply =>
  messagePage(410, request.headers, tenant.config, actAsGone, private_);

const prefixOf = (config: Config) => (isSecure(config) ? "__Host-" : "");

const wayCookieName = (config: Config) => `${prefixOf(config)}stile-acting`;

function wayCookie(config: Config, value: string, maxAge: number): string {
  const attributes = { maxAge, sameSite: "lax", secure: isSecure(config), path: "/" } as const;
  return formatCookie(config, wayCookieName(config), value, attributes);
}

/** Such cookies have no path over https (RFC 6265bis, 4.1.3.2), so the name tells tenants apart. */
const verifierCookieName = ({ config, id }: Tenant) => `${prefixOf(config)}stile-acting-${id}`;

function verifierCookie(tenant: Tenant, value: string, maxAge: number): string {
  const { config } = tenant;
  const attributes = { maxAge, sameSite: "lax", secure: isSecure(config), path: "/" } as const;
  return formatCookie(config, verifierCookieName(tenant), value, attributes);
}
