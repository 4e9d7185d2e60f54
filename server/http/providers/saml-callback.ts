import { readNow } from "#db/clock";
import { type ThirdPartyRequest, takeThirdPartyRequest } from "../../thirdparty/authorization-requests.ts";
import { challengeOf, issueExchangeToken, tokenSeconds } from "../../thirdparty/exchange-tokens.ts";
import { isOwnPage, parseReturnAddress, withError, withToken } from "../../thirdparty/redirect-urls.ts";
import { relayPrefix, samlDefaultAddress } from "../../thirdparty/saml/authn-request.ts";
import { completeSignOn } from "../../thirdparty/saml/sign-in.ts";
import { ThirdPartyError } from "../../thirdparty/third-party-error.ts";
import { readText } from "../body.ts";
import { thirdPartyStateCookie } from "../cookies.ts";
import type { Handler, HandlerContext } from "../handler-context.ts";
import { plainError, redirect } from "../reply.ts";
import {
  failureOf,
  isSameBrowser,
  logFailure,
  otherBrowser,
  recordFailure,
  redirectWithError,
  statePattern,
  unknownState,
} from "./provider-return.ts";
import { samlIsOff, samlReturnAddresses } from "./saml.ts";

/** 128 KiB of XML in base64, and what stands around it. */
const FORM_LIMIT = 192 * 1024;

/** The form fields of SAML Bindings 2.0, 3.5.4. */
interface Answer {
  samlResponse: string;
  relayState: string;
}

/**
 * `POST /saml/callback`: a provider's answer, posted by the person's browser (SAML Bindings 2.0, 3.5).
 *
 * `RelayState` tells whether it answers a request of ours. If so, the request is taken, the browser has to be the one
 * that was sent, and the answer has to name the request. If not, the provider has sent the person by itself, which it
 * has to be allowed to. What it says is stored under an exchange token, which goes to the address that was asked for;
 * with `saml_hint=idp_initiated` when no flow waits for it and one has to begin at `POST /token_exchange`.
 *
 * Whatever goes wrong is told at that address too, by `error` and `error_description`.
 */
export const samlCallbackHandler: Handler = async (context) => {
  const { runtime, tenant, client } = context;
  const off = samlIsOff(tenant.config);
  if (off) return off;
  const read = await readText(context.request, "application/x-www-form-urlencoded", FORM_LIMIT);
  if (!read.ok && read.problem === "too_large")
    return plainError(413, "The body is too large.", { Connection: "close" });
  const answer = read.ok ? answerOf(new URLSearchParams(read.value)) : null;
  if (!answer) return redirectWithError(context, unreadable());
  try {
    // Anybody may post, and what they post takes time to verify. A count of its own: whoever comes has started before.
    const rate = await runtime.rates.consume("flow_start", `${tenant.id}/saml/${client.source}`);
    if (!rate.ok) {
      const reply = redirectWithError(context, tooMany());
      return { ...reply, headers: { ...reply.headers, "Retry-After": String(rate.retryAfterSeconds) } };
    }
    return await receive(context, answer);
  } catch (error) {
    return redirectWithError(context, failureOf(error));
  }
};

async function receive(context: HandlerContext, { samlResponse, relayState }: Answer) {
  const { runtime, tenant } = context;
  const { config } = tenant;
  const now = await readNow(runtime.database.read, runtime.platform.clockShift());
  const state = relayState.startsWith(relayPrefix) ? relayState.slice(relayPrefix.length) : null;
  const request = state === null ? null : await takeRequest(context, state, now);
  const wanted = request?.redirectTo ?? samlDefaultAddress(config);
  const target = parseReturnAddress(wanted, config, samlReturnAddresses(config));
  // It was allowed when the person went, and is no longer.
  if (!target) throw unknownState();

  const own = state !== null && isSameBrowser(context, state);
  const forget = own ? { cookies: [thirdPartyStateCookie(config, "", 0)] } : {};
  const flowId = request?.flowId ?? null;
  try {
    if (request && !own) throw otherBrowser();
    const facts = await completeSignOn({ runtime, tenant }, { samlResponse, request }, now);
    if (flowId !== null) {
      return redirect(
        303,
        withToken(target, await issueExchangeToken(runtime, tenant, { flowId, facts })),
        forget,
      );
    }
    // Our page exchanges a token by itself, so one that another browser was given must be worth nothing in this one.
    const verifier = isOwnPage(target, config)
      ? runtime.platform.randomBytes(32).toString("base64url")
      : null;
    const bound = verifier === null ? {} : { codeChallenge: challengeOf(verifier) };
    const token = await issueExchangeToken(runtime, tenant, { flowId, facts, ...bound });
    const kept =
      verifier === null ? forget : { cookies: [thirdPartyStateCookie(config, verifier, tokenSeconds)] };
    return redirect(303, withToken(target, token, { saml_hint: "idp_initiated" }), kept);
  } catch (error) {
    const failure = failureOf(error);
    if (request) await recordFailure(context, request, failure);
    else logFailure(context, null, failure);
    return redirect(303, withError(target, failure.code, failure.message), forget);
  }
}

async function takeRequest(
  { runtime, tenant }: HandlerContext,
  state: string,
  now: Date,
): Promise<ThirdPartyRequest> {
  const request = statePattern.test(state) ? await takeThirdPartyRequest(runtime, tenant, state, now) : null;
  // A provider of OAuth answers elsewhere.
  if (!request?.provider.startsWith("saml:")) throw unknownState();
  return request;
}

/** @returns null when one of the fields is missing, or there twice */
function answerOf(form: URLSearchParams): Answer | null {
  const [samlResponse, ...moreResponses] = form.getAll("SAMLResponse");
  const [relayState = "", ...moreStates] = form.getAll("RelayState");
  if (!samlResponse || moreResponses.length > 0 || moreStates.length > 0) return null;
  return { samlResponse, relayState };
}

const tooMany = () =>
  new ThirdPartyError(
    "rate_limit_exceeded",
    "Too many sign-ins were begun. Wait a while and try again.",
    "rate_limit",
  );

const unreadable = () =>
  new ThirdPartyError("invalid_request", "The provider's answer could not be read.", "form_unreadable");
