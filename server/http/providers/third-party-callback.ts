import { currentTime } from "../../database/current-time.ts";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { isRandomToken } from "../../lib/random-token.ts";
import { openIdSessionOf } from "../../sessions/provider-sessions.ts";
import {
  isOfSaml,
  type ThirdPartyRequest,
  takeThirdPartyRequest,
  testOf,
} from "../../thirdparty/authorization-requests.ts";
import { issueExchangeToken } from "../../thirdparty/exchange-tokens.ts";
import { completeAuthorization } from "../../thirdparty/oauth.ts";
import { findProvider } from "../../thirdparty/providers/index.ts";
import { allowedReturnUrls, parseReturnUrl, withError, withToken } from "../../thirdparty/redirect-urls.ts";
import { redirect } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import { thirdPartyStateCookie } from "../request/cookies.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import {
  isSameBrowser,
  otherBrowser,
  redirectWithError,
  reportSignInFailure,
  toThirdPartyError,
} from "./provider-return.ts";
import { receiveTestAnswer } from "./provider-test.ts";

/**
 * `GET /thirdparty/callback`, and `POST` with a form: the authorization response of an identity provider (RFC 6749,
 * 4.1.2), brought by the user's browser.
 *
 * Takes the request that `state` names, stores the provider's facts about the user under an exchange token, and
 * redirects with the token to the address that the flow named. Nothing else is written: the flow decides what follows.
 * A form is answered directly, since its cookie arrives with it, and the user's name stays out of addresses.
 *
 * Errors go to the same address as `error` and `error_description`; without an address, to
 * `third_party.error_redirect_url` or the hosted page.
 */
export const thirdPartyCallbackHandler: Handler = async (context) => {
  // Link previews send HEAD, and must not use the request up.
  if (context.request.method === "HEAD") return { status: 204 };
  const response = await readResponse(context);
  const state = response?.get("state") ?? "";
  let request: ThirdPartyRequest | null;
  try {
    request = isRandomToken(state) ? await takeRequest(context, state) : null;
  } catch (error) {
    return redirectWithError(context, toThirdPartyError(error));
  }
  if (!response || !request) return redirectWithError(context);
  const test = testOf(request);
  if (test) return receiveTestAnswer(context, test, { protocol: "oauth", answer: response, state });
  const { config } = context.tenant;
  const sameBrowser = isSameBrowser(context, state);
  const expiredState = sameBrowser ? { cookies: [thirdPartyStateCookie(config, "", 0)] } : {};
  const target = parseReturnUrl(request.redirectTo, config, allowedReturnUrls(config));
  // The address was allowed when the request was opened, and no longer is.
  if (!target) return { ...redirectWithError(context), ...expiredState };

  try {
    if (!sameBrowser && !isBoundByVerifier(request)) throw otherBrowser();
    const token = await exchangeTokenFor(context, request, response, state);
    return redirect(303, withToken(target, token), expiredState);
  } catch (cause) {
    const error = toThirdPartyError(cause);
    await reportSignInFailure(context, request, error);
    return redirect(303, withError(target, error.code, error.message), expiredState);
  }
};

/** @returns null for a repeated parameter (RFC 6749, 3.1) or an unreadable form */
async function readResponse({ request, url }: HandlerContext): Promise<URLSearchParams | null> {
  const text =
    request.method === "POST"
      ? await readText(request, "application/x-www-form-urlencoded")
      : ({ ok: true, value: url.search } as const);
  if (!text.ok) return null;
  const response = new URLSearchParams(text.value);
  return new Set(response.keys()).size === response.size ? response : null;
}

async function takeRequest(
  { runtime, tenant }: HandlerContext,
  state: string,
): Promise<ThirdPartyRequest | null> {
  const request = await takeThirdPartyRequest(runtime, tenant, state, await currentTime(runtime));
  // SAML providers answer at `/saml/callback`.
  return request && !isOfSaml(request) ? request : null;
}

/** Whether the exchange proves the browser by its code verifier, as for requests from a page of another site. */
function isBoundByVerifier({ codeChallenge, privateState }: ThirdPartyRequest): boolean {
  return privateState.boundBy === "verifier" && codeChallenge !== undefined;
}

async function exchangeTokenFor(
  { runtime, tenant }: HandlerContext,
  request: ThirdPartyRequest,
  answer: URLSearchParams,
  state: string,
): Promise<string> {
  const { flowId, codeChallenge, userId, privateState } = request;
  const provider = findProvider(tenant.config, request.provider);
  if (!provider)
    throw new ThirdPartyError("invalid_request", "This provider is no longer available.", "disabled");
  const about = { answer, state, privateState };
  const { facts, idToken } = await completeAuthorization({ runtime, tenant }, provider, about);
  const reauthenticates = privateState.reauthenticatedSince !== undefined;
  const token = {
    flowId,
    facts,
    reauthenticates,
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
    ...(userId === undefined ? {} : { userId }),
  };
  // An identity that is connected to an account signs no session in.
  const isSignIn = userId === undefined || reauthenticates;
  const session = provider.endsSession && isSignIn ? openIdSessionOf(idToken) : null;
  return issueExchangeToken(runtime, tenant, token, session);
}
