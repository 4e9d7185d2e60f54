import type { Config } from "../../config/schema.ts";
import { currentTime } from "../../database/current-time.ts";
import {
  findProviderSignOut,
  providerLogoutUrl,
  takeProviderSignOut,
} from "../../sessions/provider-sessions.ts";
import { allowedReturnUrls, basePageUrl, parseReturnUrl } from "../../thirdparty/redirect-urls.ts";
import { samlReturnAddresses } from "../../thirdparty/saml/authn-request.ts";
import { providerSignOutUrl } from "../../thirdparty/sign-out.ts";
import { messagePage } from "../answer/message-page.ts";
import { signedOut, signedOutNext } from "../answer/messages.ts";
import { type Reply, redirect } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";

/**
 * Sign-outs that go on at the identity provider. The session here has ended before the browser comes to any of these addresses:
 * what is missing, late or made up leads to the page of this service, and changes nothing.
 */

/** Returns the path at which a sign-out goes on, for our own pages. */
function providerLogoutPath(config: Config, state: string): string {
  const { pathname, search } = new URL(providerLogoutUrl(config, state));
  return pathname + search;
}

/**
 * Returns where the browser goes on after a sign-out at a provider: the address that a script names, if users may return to it
 * from a sign-in at a provider, else the page of this service.
 */
export function returnAfterSignOut(query: URLSearchParams, config: Config): string {
  const [requested, ...others] = query.getAll("redirect_to");
  const allowed =
    requested === undefined || others.length > 0
      ? null
      : (parseReturnUrl(requested, config, allowedReturnUrls(config)) ??
        parseReturnUrl(requested, config, samlReturnAddresses(config)));
  return (allowed ?? basePageUrl(config)).href;
}

/**
 * A page that says that the user is signed out and goes on by itself. Forms of our pages are answered with it, since browsers
 * do not let a form lead to another origin by redirects (`form-action`).
 */
export function signedOutNextPage({ request, tenant }: HandlerContext, state: string): Reply {
  const path = providerLogoutPath(tenant.config, state);
  const headers = { Refresh: `0;url=${path}`, "Referrer-Policy": "no-referrer" };
  return messagePage(200, request.headers, tenant.config, signedOutNext(path), headers);
}

/** The same to an address of the console, for an operator who stops acting as a user. */
export function signedOutTo({ request, tenant }: HandlerContext, address: URL): Reply {
  const headers = { Refresh: `0;url=${address.href}`, "Referrer-Policy": "no-referrer" };
  return messagePage(200, request.headers, tenant.config, signedOut(address), headers);
}

/** `GET /logout/provider?state=`: sends the browser to the provider, if it can be asked, and else on. */
export const providerLogoutHandler: Handler = async (context) => {
  const { runtime, tenant } = context;
  if (context.request.method === "HEAD") return { status: 204 };
  const state = stateOf(context);
  const now = await currentTime(runtime);
  const signOut = state === null ? null : await findProviderSignOut({ runtime, tenant }, state, now);
  if (state === null || !signOut) return redirect(303, basePageUrl(tenant.config).href);
  const url = await providerSignOutUrl({ runtime, tenant }, signOut, state, now);
  // The address of this request has the state.
  if (url !== null) return redirect(303, url, { headers: { "Referrer-Policy": "no-referrer" } });
  return returnFromProvider(context, state, now);
};

/** `GET /thirdparty/logout?state=`: the browser is back from the sign-out (OpenID Connect RP-Initiated Logout 1.0, 3). */
export const signedOutAtProviderHandler: Handler = async (context) => {
  if (context.request.method === "HEAD") return { status: 204 };
  const state = stateOf(context);
  if (state === null) return redirect(303, basePageUrl(context.tenant.config).href);
  return returnFromProvider(context, state, await currentTime(context.runtime));
};

/** Takes a sign-out, and sends the browser where it was to lead. */
export async function returnFromProvider(context: HandlerContext, state: string, now: Date): Promise<Reply> {
  const { runtime, tenant, request } = context;
  const taken = await takeProviderSignOut({ runtime, tenant }, state, now);
  if (!taken) return redirect(303, basePageUrl(tenant.config).href);
  return taken.redirectTo === null
    ? messagePage(200, request.headers, tenant.config, signedOut(undefined))
    : redirect(303, taken.redirectTo);
}

export function stateOf({ url }: HandlerContext): string | null {
  const [state, ...others] = url.searchParams.getAll("state");
  return state === undefined || others.length > 0 ? null : state;
}
