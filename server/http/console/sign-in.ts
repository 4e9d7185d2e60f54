import { sealData, unsealData } from "iron-session";
import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { endConsoleSession } from "../../console/console-sessions.ts";
import { enterConsole, requiredClasses } from "../../console/enter.ts";
import { judgeInvitation } from "../../console/invitations.ts";
import { CONSOLE_PATH, consoleOrigin, ENTERED_PATH, servesConsole } from "../../console/place.ts";
import { codeChallengeOf } from "../../lib/pkce.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { Runtime } from "../../runtime.ts";
import { redeemAuthorizationCode } from "../../sessions/authorization-codes.ts";
import { messagePage } from "../answer/message-page.ts";
import { missingAddress } from "../answer/messages.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { cookieValues, formatCookie, isSecure } from "../request/cookies.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { consoleCookie, consoleTokens } from "./visitor.ts";

/**
 * The way into the console: its user signs in at the hosted page of a tenant, as to any application, and comes back with an
 * authorization code that is bound to this browser (RFC 7636).
 */

/** A sign-in under way, in a sealed cookie. */
interface Entry {
  tenantId: string;
  codeVerifier: string;
  /** Binds the answer to this browser (RFC 6749, 10.12). */
  state: string;
  /** The page of the console that was asked for. */
  to: string;
  invitation: string | null;
  /** Tokens of sessions of the console that the new one replaces: a browser that returns from another host sends none. */
  former: string[];
}

const entryCookieName = (config: Config) => `${isSecure(config) ? "__Host-" : ""}stile-console-entry`;

const entryCookie = (config: Config, value: string, maxAge: number) =>
  formatCookie(config, entryCookieName(config), value, {
    maxAge,
    sameSite: "lax",
    secure: isSecure(config),
    path: "/",
  });

/** Sends a browser to the hosted page of the tenant that it names, by default of the default tenant. */
export const beginConsoleSignIn: Handler = async (context) => {
  const { runtime, url } = context;
  const { config, platform, vault } = runtime;
  const query = url.searchParams;
  const tenant = await tenantNamed(runtime, query.get("tenant"));
  if (!isOfConsole(context) || !tenant) return missing(context);
  const flow = query.get("flow");
  if (flow !== null && flow !== "registration") return plainError(400, "`flow` must be registration.");
  const invitation = query.get("invitation");
  const unusable = invitation === null ? null : await judgeInvitation(runtime, invitation);
  if (unusable) return refused(config, unusable);
  const entry: Entry = {
    tenantId: tenant.id,
    codeVerifier: randomToken(platform),
    state: randomToken(platform),
    to: pageOf(query.get("to")),
    invitation,
    former: consoleTokens(config, context.cookies),
  };
  const signIn = new URL(`${tenant.config.base_url}/login`);
  signIn.search = new URLSearchParams({
    redirect_to: consoleOrigin(config) + ENTERED_PATH,
    code_challenge: codeChallengeOf(entry.codeVerifier),
    state: entry.state,
    acr_values: requiredClasses(config).join(" "),
    ...(flow === null ? {} : { flow }),
  }).toString();
  const ttl = tenant.config.flow.lifetime;
  const seal = await sealData(entry, { password: vault.passwords("console entry").sealing, ttl });
  return redirect(303, signIn.href, { cookies: [entryCookie(config, seal, ttl)] });
};

/** Takes the code of a sign-in, and lets its user enter. */
export const endConsoleSignIn: Handler = async (context) => {
  const { runtime, cookies, url } = context;
  const { config } = runtime;
  if (!isOfConsole(context)) return missing(context);
  const entry = await entryOf(runtime, cookies, url.searchParams.get("state"));
  const tenant = entry && (await tenantNamed(runtime, entry.tenantId));
  const code = url.searchParams.get("code");
  if (!entry || !tenant || code === null) return refused(config, "interrupted");
  const { codeVerifier } = entry;
  const redeemed = await redeemAuthorizationCode(runtime, tenant, { code, codeVerifier });
  if (!redeemed) return refused(config, "interrupted");
  const { session, now } = redeemed;
  const client = { ...context.client, operator: { tenantId: tenant.id, userId: session.userId } };
  const entered = await enterConsole({ runtime, tenant, client, now }, session, entry.invitation);
  if ("refused" in entered)
    return refused(config, entered.refused === "session_ended" ? "interrupted" : entered.refused);
  for (const former of new Set([...entry.former, ...consoleTokens(config, cookies)]))
    await endConsoleSession(runtime, former);
  return redirect(303, entry.to, {
    cookies: [
      consoleCookie(config, entered.token, config.console.session_lifetime),
      entryCookie(config, "", 0),
    ],
  });
};

/** Ends the session of the console. That of the sign-in goes on. */
export const signOutOfConsole: Handler = async ({ runtime, cookies }) => {
  for (const token of consoleTokens(runtime.config, cookies)) await endConsoleSession(runtime, token);
  return { status: 204, cookies: [consoleCookie(runtime.config, "", 0)] };
};

/** Whether a request is for the host of the console, and the console is on. */
export const isOfConsole = ({
  runtime: { config, tenant: defaultTenant },
  tenant,
  request,
}: HandlerContext) => tenant.id === defaultTenant.id && servesConsole(config, request.headers.get("host"));

async function tenantNamed(runtime: Runtime, id: string | null): Promise<Tenant | null> {
  if (id === null || id === runtime.tenant.id) return runtime.tenant;
  return /^[0-9a-f-]{36}$/.test(id) ? runtime.tenants.byId(id) : null;
}

/** A page of the console; an address of anything else would be an open redirect. */
function pageOf(asked: string | null): string {
  if (asked === null || asked.length > MAX_PAGE_CHARACTERS) return CONSOLE_PATH;
  const base = "http://console.invalid";
  const page = URL.canParse(asked, base) ? new URL(asked, base) : null;
  const isOwn = page?.origin === base && `${page.pathname}/`.startsWith(`${CONSOLE_PATH}/`);
  return isOwn ? page.pathname + page.search : CONSOLE_PATH;
}

const MAX_PAGE_CHARACTERS = 1000;

async function entryOf(
  { vault, config }: Runtime,
  cookies: string | null,
  state: string | null,
): Promise<Entry | null> {
  for (const seal of cookieValues(cookies, entryCookieName(config))) {
    const entry = await unsealData<Partial<Entry>>(seal, {
      password: vault.passwords("console entry").unsealing,
    });
    if (entry.state !== undefined && entry.state === state) return entry as Entry;
  }
  return null;
}

const refused = (config: Config, reason: string): Reply =>
  redirect(303, `${CONSOLE_PATH}/refused?reason=${reason}`, { cookies: [entryCookie(config, "", 0)] });

const missing = ({ request, tenant }: HandlerContext): Reply =>
  messagePage(404, request.headers, tenant.config, missingAddress);
