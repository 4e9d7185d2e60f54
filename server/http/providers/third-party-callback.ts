import { readNow } from "#db/clock";
import { type ThirdPartyRequest, takeThirdPartyRequest } from "../../thirdparty/authorization-requests.ts";
import { issueExchangeToken } from "../../thirdparty/exchange-tokens.ts";
import { completeAuthorization } from "../../thirdparty/oauth.ts";
import { findProvider } from "../../thirdparty/providers/index.ts";
import { parseReturnAddress, returnAddresses, withError, withToken } from "../../thirdparty/redirect-urls.ts";
import { ThirdPartyError } from "../../thirdparty/third-party-error.ts";
import { readText } from "../body.ts";
import { thirdPartyStateCookie } from "../cookies.ts";
import type { Handler, HandlerContext } from "../handler-context.ts";
import { redirect } from "../reply.ts";
import {
  failureOf,
  isSameBrowser,
  otherBrowser,
  recordFailure,
  redirectWithError,
  statePattern,
} from "./provider-return.ts";

/**
 * `GET /thirdparty/callback`, and `POST` by a form: a person comes back from an identity provider (RFC 6749, 4.1.2).
 *
 * The request that the `state` names is taken; what the provider says of the person is stored under an exchange token,
 * which goes to the address that the flow named. Nothing else is written: what follows from it is for the flow to
 * decide. A form is answered directly, since the cookie comes along with it, and the person's name stays out of
 * addresses.
 *
 * Whatever goes wrong is told at that address too, by `error` and `error_description`; where there is none, at
 * `third_party.error_redirect_url`, or on our own page.
 */
export const thirdPartyCallbackHandler: Handler = async (context) => {
  // Previews of links ask like this, and must not use the request up.
  if (context.request.method === "HEAD") return { status: 204 };
  const answer = await readAnswer(context);
  const state = answer?.get("state") ?? "";
  let request: ThirdPartyRequest | null;
  try {
    request = statePattern.test(state) ? await takeRequest(context, state) : null;
  } catch (error) {
    return redirectWithError(context, failureOf(error));
  }
  if (!answer || !request) return redirectWithError(context);
  const own = isSameBrowser(context, state);
  const forget = own ? { cookies: [thirdPartyStateCookie(context.tenant.config, "", 0)] } : {};
  const target = parseReturnAddress(
    request.redirectTo,
    context.tenant.config,
    returnAddresses(context.tenant.config),
  );
  // It was allowed when the person went, and is no longer.
  if (!target) return { ...redirectWithError(context), ...forget };

  try {
    if (!own && !isBoundByVerifier(request)) throw otherBrowser();
    const token = await finish(context, request, answer, state);
    return redirect(303, withToken(target, token), forget);
  } catch (error) {
    const failure = failureOf(error);
    await recordFailure(context, request, failure);
    return redirect(303, withError(target, failure.code, failure.message), forget);
  }
};

/** @returns null when a parameter comes twice (RFC 6749, 3.1), or the form cannot be read */
async function readAnswer({ request, url }: HandlerContext): Promise<URLSearchParams | null> {
  const text =
    request.method === "POST"
      ? await readText(request, "application/x-www-form-urlencoded")
      : ({ ok: true, value: url.search } as const);
  if (!text.ok) return null;
  const answer = new URLSearchParams(text.value);
  return new Set(answer.keys()).size === answer.size ? answer : null;
}

async function takeRequest(
  { runtime, tenant }: HandlerContext,
  state: string,
): Promise<ThirdPartyRequest | null> {
  const now = await readNow(runtime.database.read, runtime.platform.clockShift());
  const request = await takeThirdPartyRequest(runtime, tenant, state, now);
  // A provider of SAML answers elsewhere.
  return request && !request.provider.startsWith("saml:") ? request : null;
}

/** One that a page of another site sent proves by its verifier, at the exchange, which browser it was. */
function isBoundByVerifier({ codeChallenge, privateState }: ThirdPartyRequest): boolean {
  return privateState.boundBy === "verifier" && codeChallenge !== undefined;
}

async function finish(
  { runtime, tenant }: HandlerContext,
  request: ThirdPartyRequest,
  answer: URLSearchParams,
  state: string,
): Promise<string> {
  const { flowId, codeChallenge, userId, privateState } = request;
  const provider = findProvider(tenant.config, request.provider);
  if (!provider)
    throw new ThirdPartyError("invalid_request", "This provider is not available any more.", "disabled");
  const facts = await completeAuthorization({ runtime, tenant }, provider, { answer, state, privateState });
  return issueExchangeToken(runtime, tenant, {
    flowId,
    facts,
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
    ...(userId === undefined ? {} : { userId }),
  });
}
