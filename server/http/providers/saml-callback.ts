import { currentTime } from "../../database/current-time.ts";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { codeChallengeOf } from "../../lib/pkce.ts";
import { isRandomToken, randomToken } from "../../lib/random-token.ts";
import {
  isOfSaml,
  type ThirdPartyRequest,
  takeThirdPartyRequest,
  testOf,
} from "../../thirdparty/authorization-requests.ts";
import { EXCHANGE_TOKEN_SECONDS, issueExchangeToken } from "../../thirdparty/exchange-tokens.ts";
import { isOwnPage, parseReturnUrl, withError, withToken } from "../../thirdparty/redirect-urls.ts";
import {
  RELAY_STATE_PREFIX,
  samlDefaultReturnUrl,
  samlReturnAddresses,
} from "../../thirdparty/saml/authn-request.ts";
import { completeSamlSignIn } from "../../thirdparty/saml/sign-in.ts";
import { logSignInFailure } from "../../thirdparty/sign-in-failure.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import { thirdPartyStateCookie } from "../request/cookies.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import {
  isSameBrowser,
  otherBrowser,
  redirectWithError,
  reportSignInFailure,
  toThirdPartyError,
  unknownState,
} from "./provider-return.ts";
import { receiveTestAnswer } from "./provider-test.ts";
import { samlDisabledError } from "./saml.ts";

/** 128 KiB of XML in base64, and the other form fields. */
const MAX_FORM_BYTES = 192 * 1024;

/** The form fields of SAML Bindings 2.0, 3.5.4. */
interface SamlForm {
  samlResponse: string;
  relayState: string;
}

/**
 * `POST /saml/callback`: a provider's response, posted by the user's browser (SAML Bindings 2.0, 3.5).
 *
 * `RelayState` says whether the response answers a request of this service. If so, the request is taken, the browser
 * must be the one that was sent, and the response must name the request. Otherwise the sign-on is IdP-initiated, which
 * the provider must be allowed to do. The provider's facts about the user are stored under an exchange token, and the
 * browser is redirected with the token to the return address; with `saml_hint=idp_initiated` if no flow waits for the
 * token and one has to be started at `POST /token_exchange`.
 *
 * Errors go to the same address as `error` and `error_description`.
 */
export const samlCallbackHandler: Handler = async (context) => {
  const { runtime, tenant, client } = context;
  const disabled = samlDisabledError(tenant.config);
  if (disabled) return disabled;
  const body = await readText(context.request, "application/x-www-form-urlencoded", MAX_FORM_BYTES);
  if (!body.ok && body.reason === "too_large")
    return plainError(413, "The body is too large.", { Connection: "close" });
  const form = body.ok ? parseForm(new URLSearchParams(body.value)) : null;
  if (!form) return redirectWithError(context, unreadable());
  try {
    // Verification is expensive and needs no authentication. It has a rate of its own, since the same user has already
    // used one start at `/saml/auth`.
    const rate = await runtime.rates.consume(tenant.id, "flow_start", `saml/${client.source}`);
    if (!rate.ok) {
      const reply = redirectWithError(context, rateLimited());
      return { ...reply, headers: { ...reply.headers, "Retry-After": String(rate.retryAfterSeconds) } };
    }
    return await receive(context, form);
  } catch (error) {
    return redirectWithError(context, toThirdPartyError(error));
  }
};

async function receive(context: HandlerContext, { samlResponse, relayState }: SamlForm): Promise<Reply> {
  const { runtime, tenant } = context;
  const { config } = tenant;
  const now = await currentTime(runtime);
  const state = relayState.startsWith(RELAY_STATE_PREFIX)
    ? relayState.slice(RELAY_STATE_PREFIX.length)
    : null;
  const request = state === null ? null : await takeRequest(context, state, now);
  const test = request && testOf(request);
  if (test) return receiveTestAnswer(context, test, { protocol: "saml", samlResponse, state: state ?? "" });
  const returnAddress = request?.redirectTo ?? samlDefaultReturnUrl(config);
  const target = parseReturnUrl(returnAddress, config, samlReturnAddresses(config));
  // The address was allowed when the request was opened, and no longer is.
  if (!target) throw unknownState();

  const sameBrowser = state !== null && isSameBrowser(context, state);
  const expiredState = sameBrowser ? { cookies: [thirdPartyStateCookie(config, "", 0)] } : {};
  const flowId = request?.flowId ?? null;
  try {
    if (request && !sameBrowser) throw otherBrowser();
    const { facts, session } = await completeSamlSignIn({ runtime, tenant }, { samlResponse, request }, now);
    if (flowId !== null) {
      const { userId } = request ?? {};
      // SAML requests of profile flows reauthenticate.
      const owner = userId === undefined ? {} : { userId, reauthenticates: true };
      const token = await issueExchangeToken(runtime, tenant, { flowId, facts, ...owner }, session);
      return redirect(303, withToken(target, token), expiredState);
    }
    // The hosted page exchanges a token automatically, so a token issued to another browser must not work in this one.
    const verifier = isOwnPage(target, config) ? randomToken(runtime.platform) : null;
    const bound = verifier === null ? {} : { codeChallenge: codeChallengeOf(verifier) };
    const token = await issueExchangeToken(runtime, tenant, { flowId, facts, ...bound }, session);
    const cookies =
      verifier === null
        ? expiredState
        : { cookies: [thirdPartyStateCookie(config, verifier, EXCHANGE_TOKEN_SECONDS)] };
    return redirect(303, withToken(target, token, { saml_hint: "idp_initiated" }), cookies);
  } catch (cause) {
    const error = toThirdPartyError(cause);
    if (request) await reportSignInFailure(context, request, error);
    else logSignInFailure(context, null, error);
    return redirect(303, withError(target, error.code, error.message), expiredState);
  }
}

async function takeRequest(
  { runtime, tenant }: HandlerContext,
  state: string,
  now: Date,
): Promise<ThirdPartyRequest> {
  const request = isRandomToken(state) ? await takeThirdPartyRequest(runtime, tenant, state, now) : null;
  // OAuth providers answer at `/thirdparty/callback`.
  if (!request || !isOfSaml(request)) throw unknownState();
  return request;
}

/** @returns null for a missing or repeated field */
function parseForm(form: URLSearchParams): SamlForm | null {
  const [samlResponse, ...moreResponses] = form.getAll("SAMLResponse");
  const [relayState = "", ...moreStates] = form.getAll("RelayState");
  if (!samlResponse || moreResponses.length > 0 || moreStates.length > 0) return null;
  return { samlResponse, relayState };
}

const rateLimited = () =>
  new ThirdPartyError(
    "rate_limit_exceeded",
    "Too many sign-ins were started. Wait a while and try again.",
    "rate_limit",
  );

const unreadable = () =>
  new ThirdPartyError("invalid_request", "The provider's answer could not be read.", "form_unreadable");
