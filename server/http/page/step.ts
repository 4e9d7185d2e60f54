import type { Tenant } from "../../config/tenant.ts";
import { capabilitiesInputOf, REPORT_CAPABILITIES } from "../../flow/capabilities.ts";
import { firstState } from "../../flow/first-state.ts";
import { type FlowType, flowTypes } from "../../flow/names.ts";
import type { FlowState } from "../../flow/wire.ts";
import type { Runtime } from "../../runtime.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { checkingCookies } from "./cookie-check.ts";
import { readForm } from "./form.ts";
import { NOTICE_SECONDS, type Notice, noticeOf } from "./notice.ts";
import { expiredPageCookie, fitsBrowsers, openPageCookie, pageCookie } from "./page-cookie.ts";
import { actOnPage, currentOnPage, isNotPermitted, type PageReply, startWith } from "./page-flow.ts";
import { pageState } from "./page-state.ts";

/** Long enough for the redirect. The page that displays the codes removes their cookie. */
const NEW_CODES_SECONDS = 60;

/**
 * In place of an action: abandons the flow, for a user who wants another account; with the field `identifier`, for one
 * who wants to sign in to that account. No action has this name.
 */
const START_OVER = "start_over";

/** Maximum number of form fields. */
const MAX_FIELDS = 256;

/**
 * `POST /step`: one step of the hosted page in a browser without scripts. The form names the flow's type, the action and
 * the version of the displayed state; all other fields are input. Redirects to the page, which displays the result.
 */
export const stepHandler: Handler = async (context) => {
  const { request, runtime, cookies, tenant } = context;
  const text = await readText(request, "application/x-www-form-urlencoded");
  if (!text.ok) return formError(text.reason);
  const form = new URLSearchParams(text.value);
  const type = flowTypes.find((name) => name === form.get("flow"));
  const own = context.url.searchParams;
  const action = own.get("action") ?? form.get("action");
  const version = form.get("version") ?? "";
  if (!type || !action || !/^\d{1,9}$/.test(version) || form.size + own.size > MAX_FIELDS)
    return formError("malformed");

  const capabilities = { webauthn_available: form.get("with_script") === "true" };
  const identifier = form.get("identifier");
  if (action === START_OVER && !identifier)
    return redirect(303, pageAddress(type), { cookies: [expiredPageCookie(tenant, type)] });
  if (action === START_OVER) {
    const first = firstState(tenant, type);
    const begun = identification(first, identifier ?? "");
    if (!begun) return formError("malformed");
    const started = await startWith(context, { type, ...begun, capabilities });
    return result(context, type, started, first, begun.input);
  }

  const { state } = await pageState(runtime, tenant, cookies, type);
  const descriptor = Object.hasOwn(state.actions, action) ? state.actions[action] : undefined;
  const choice = choiceOf(form, action, state);
  const inputs = descriptor?.inputs ?? {};
  const entered = readForm(
    withoutChoice(own.has("action") ? fieldsOf(inputs, form, own) : form, choice),
    inputs,
  );
  // A flow that is not started shows no report of capabilities, but can begin with one.
  const input =
    action === REPORT_CAPABILITIES && !descriptor
      ? { ...capabilitiesInputOf(capabilities), ...entered }
      : entered;
  const account = form.get("account") ?? undefined;
  const step = { type, action, version: Number(version), input, account, capabilities };
  const acted = await actOnPage(context, choice?.differs ? { ...step, first: choice } : step);
  return resultOfStep(context, type, acted, state, { ...input, ...choice?.input });
};

/**
 * Redirects to the page after a step, as `result` does; after a second click or a lost answer, the page shows the flow's
 * current state, whose form works.
 */
export async function resultOfStep(
  context: HandlerContext,
  type: FlowType,
  acted: PageReply,
  shown: FlowState,
  input: Record<string, unknown>,
): Promise<Reply> {
  const outcome = isNotPermitted(acted) ? await currentOnPage(context, type) : acted;
  return result(context, type, outcome, shown, input);
}

/**
 * Redirects to the page, which displays the result.
 *
 * @param shown the state whose form was posted
 * @param input what the form held
 */
async function result(
  { runtime, tenant, cookies }: HandlerContext,
  type: FlowType,
  outcome: PageReply,
  shown: FlowState,
  input: Record<string, unknown>,
): Promise<Reply> {
  const { state } = outcome.answer;
  // An outdated form leads to the current state, which needs no notice. Other errors have no state to appear in.
  const notice = state.name === "error" && state.status !== 403 ? noticeOf(type, state, shown, input) : null;
  const outdated = !notice && (await openPageCookie(runtime, tenant, "notice", cookies)) !== null;
  return redirect(303, cookies === null ? checkingCookies(pageAddress(type)) : pageAddress(type), {
    headers: outcome.headers,
    cookies: [
      ...outcome.cookies,
      ...(notice ? [await noticeCookie(runtime, tenant, notice)] : []),
      ...(outdated ? [expiredPageCookie(tenant, "notice")] : []),
      ...(await codesCookies(runtime, tenant, outcome)),
    ],
  });
}

/** Carries the error over the redirect, with what the form held if the cookie has room for it. */
async function noticeCookie(runtime: Runtime, tenant: Tenant, notice: Notice): Promise<string> {
  const seal = (sealed: Notice) => pageCookie(runtime, tenant, "notice", sealed, NOTICE_SECONDS);
  const cookie = await seal(notice);
  return fitsBrowsers(cookie) ? cookie : seal({ ...notice, values: {} });
}

/** The step that identifies a user in the first state of a login; null where it takes no identifier. */
function identification({ actions }: FlowState, identifier: string) {
  const { continue_with_login_identifier: action } = actions;
  const [input] = Object.values(action?.inputs ?? {});
  return action && input ? { action: action.action, input: { [input.name]: identifier } } : null;
}

/** The choice to stay signed in, which the form of another action carries in browsers without scripts. */
function choiceOf(form: URLSearchParams, action: string, { actions }: FlowState) {
  const { remember_me: choice } = actions;
  if (!choice || choice.action === action || form.get("with_choice") !== choice.action) return null;
  const chosen = form.has("remember_me");
  const differs = chosen !== (choice.inputs.remember_me?.value === true);
  return { action: choice.action, input: { remember_me: chosen }, differs };
}

/**
 * The fields of a button that performs another action than its form, which carries a choice: those in its address, and
 * those of the form that are inputs of its action.
 */
function fieldsOf(inputs: object, form: URLSearchParams, own: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...[...form].filter(([name]) => Object.hasOwn(inputs, name)), ...own]);
}

function withoutChoice(form: URLSearchParams, choice: { input: object } | null): URLSearchParams {
  const rest = new URLSearchParams(form);
  for (const name of Object.keys(choice?.input ?? {})) rest.delete(name);
  return rest;
}

/** Address of the hosted page for a type of flow. */
export function pageAddress(type: FlowType): string {
  return type === "login" ? "/" : `/?flow=${type}`;
}

/** Carries new recovery codes over the redirect; the server stores no copy. */
async function codesCookies(
  runtime: Runtime,
  tenant: Tenant,
  { answer, flowId }: PageReply,
): Promise<string[]> {
  const { recovery_codes: codes } = answer.state.payload;
  if (!flowId || !Array.isArray(codes)) return [];
  const newCodes = { flowId, version: answer.version, codes };
  return [await pageCookie(runtime, tenant, "codes", newCodes, NEW_CODES_SECONDS)];
}

/** Rejects a form that cannot be read. */
export function formError(reason: "too_large" | "malformed") {
  return reason === "too_large"
    ? plainError(413, "The form is too large.", { Connection: "close" })
    : plainError(400, "Invalid form.");
}
