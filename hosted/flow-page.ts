import type { Config } from "#server/config/schema";
import { deviceAddress, resumeAddress } from "#server/flow/authorization";
import type { FlowType } from "#server/flow/names";
import { showError } from "#server/flow/show";
import type { FlowState } from "#server/flow/wire";
import { isTemporaryFailure } from "#server/http/answer/temporary-failure";
import { checksCookies, withoutCookieCheck } from "#server/http/page/cookie-check";
import { frameAncestors } from "#server/http/page/frame-ancestors";
import type { PageAnswer } from "#server/http/page/page-answer";
import { expiredPageCookie, openPageCookie, type ShownAuthorization } from "#server/http/page/page-cookie";
import { UNSTARTED } from "#server/http/page/page-flow";
import { pageState } from "#server/http/page/page-state";
import { pathPrefix, withinTenant } from "#server/http/request/tenant-path";
import { isUnknownKey } from "#server/keys/unknown-key";
import { wordsInUse } from "#words/words-in-use";
import {
  isIdpInitiated,
  type ProviderReturn,
  readProviderReturn,
} from "../components/flow/provider-return.ts";
import { variantsOf } from "../components/flow/variants.ts";
import { stateWords } from "../components/flow/words.ts";
import { languagesOf } from "./languages.ts";
import type { Page, PageRequest, Redirection } from "./page.ts";
import { unframed } from "./page-headers.ts";
import { brandOf } from "./theme.ts";

const requestable = ["login", "registration", "token_exchange", "consent"] as const;

/** `GET /`: the page of login and registration. */
export async function loginPage(request: PageRequest): Promise<Page | Redirection> {
  const { query } = request;
  // The destination is stored in a cookie, which a page does not set.
  if (query.has("redirect_to")) return { location: `/login?${query}` };
  if (query.get("flow") === "profile") return { location: "/account" };
  return flowPage(request, requestable.find((name) => name === query.get("flow")) ?? null);
}

/** `GET /account`: the account page, which displays the profile flow. */
export function accountPage(request: PageRequest): Promise<Page | Redirection> {
  return flowPage(request, "profile");
}

/**
 * Displays the browser's flow, or the first state of a flow that is not started. Reads only.
 *
 * @param requested null for the flow that waits for the visitor, else a login
 */
async function flowPage(request: PageRequest, requested: FlowType | null): Promise<Page | Redirection> {
  const { tenant, path, query, language, words } = request;
  const { config } = tenant;
  const providerReturn = readProviderReturn(query);
  if (checksCookies(query) && request.cookies !== null) {
    const rest = withoutCookieCheck(query);
    return { location: rest.size > 0 ? `${path}?${rest}` : path };
  }
  const { type, initial } = await selectFlow(
    request,
    candidates(requested, providerReturn !== null, isIdpInitiated(query)),
  );
  const address = withinTenant(config, path);
  // A user whose session has ended signs in again and is asked again.
  const asked =
    type === "consent"
      ? await openPageCookie(request.runtime, tenant, "authorization", request.cookies)
      : null;
  const ancestors = await frameAncestors(request.runtime, tenant, request.cookies, type, initial);
  const { covered, tooSmall } = words.frame;
  const { title } = stateWords(words.flow, initial.state.name, variantsOf(initial.state, type));
  return {
    status: 200,
    title: `${title} · ${config.service.name}`,
    config,
    embedding: { ...unframed, ancestors },
    // Recovery codes are displayed once.
    ...(Object.hasOwn(initial.state.payload, "recovery_codes")
      ? { cookies: [expiredPageCookie(tenant, "codes")] }
      : {}),
    content: {
      part: "login",
      props: {
        type,
        initial,
        ...brandOf(config),
        signup: config.account.allow_signup,
        words: wordsInUse(words.flow, config),
        ...(ancestors.length > 0 ? { frameWords: { covered, tooSmall } } : {}),
        language,
        base: pathPrefix(config),
        address: asked ? askedAt(config, asked) : new URL(address, config.base_url).href,
        providerReturn: providerReturn && returnTo(type, initial.state, providerReturn),
        relyingParty: config.webauthn.relying_party.id,
        languages: languagesOf(request, requested && path === "/" ? `${address}?flow=${requested}` : address),
      },
    },
  };
}

/**
 * The result of a provider, for the flow that waits for it; else the error that nothing does. A page with secrets of the
 * account repeats no text of its address: those who choose that text could learn the secrets from the length of the
 * compressed page (BREACH).
 */
function returnTo(type: FlowType, { actions }: FlowState, providerReturn: ProviderReturn): ProviderReturn {
  const isAwaited = type === "token_exchange" || Object.hasOwn(actions, "exchange_token");
  return isAwaited || "error" in providerReturn ? providerReturn : { error: "page_renewed" };
}

/** The flows that this page may display. A return from a provider belongs to one of them. */
function candidates(requested: FlowType | null, isReturn: boolean, idpInitiated: boolean): FlowType[] {
  if (idpInitiated) return ["token_exchange"];
  if (requested) return [requested];
  return isReturn ? ["login", "registration"] : ["login"];
}

/** Selects, of several flows, the one that waits for a provider's answer; else the first. */
async function selectFlow(
  request: PageRequest,
  types: FlowType[],
): Promise<{ type: FlowType; initial: PageAnswer }> {
  const flows = await Promise.all(types.map(async (type) => ({ type, initial: await state(request, type) })));
  const [first] = flows;
  const selected =
    flows.find(({ initial }) => Object.hasOwn(initial.state.actions, "exchange_token")) ?? first;
  if (!selected) throw new Error("a page has at least one candidate flow");
  return selected;
}

/** No code of the protocol: only the page shows it. */
const cookiesBlocked = { code: "cookies_blocked", message: "The browser keeps no cookies for this page." };

/** Reads the state to display. An unexpected error becomes an error state. */
async function state(request: PageRequest, type: FlowType): Promise<PageAnswer> {
  const { runtime, tenant, cookies, query, visit } = request;
  try {
    const answer = await pageState(runtime, tenant, cookies, type, undefined, visit);
    return checksCookies(query) ? { ...answer, state: { ...answer.state, error: cookiesBlocked } } : answer;
  } catch (error) {
    if (isUnknownKey(error, runtime.log) || isTemporaryFailure(error))
      return { version: UNSTARTED, state: showError("temporarily_unavailable") };
    runtime.log.error({ err: error }, "displaying the page failed");
    return { version: UNSTARTED, state: showError("technical_error") };
  }
}

/** Where a question is asked again. */
const askedAt = (config: Config, asked: ShownAuthorization): string =>
  "request" in asked ? resumeAddress(config, asked) : deviceAddress(config);
