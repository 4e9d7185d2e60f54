import { type FlowType, flowTypes } from "../../flow/names.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { readText } from "../body.ts";
import type { Handler } from "../handler-context.ts";
import { plainError, redirect } from "../reply.ts";
import { readForm } from "./form.ts";
import { noticeCookie } from "./notice.ts";
import { actOnPage, currentOnPage, type PageReply } from "./page-flow.ts";
import { pageState } from "./page-state.ts";

/** Most fields of a form. */
const FIELD_LIMIT = 256;

/**
 * `POST /step`: one step of the hosted page where no script runs. The form names the flow's type, the action, and
 * the version that it was drawn from; everything else in it is input. Answers with the way back to the page, which
 * draws the outcome.
 */
export const stepHandler: Handler = async (context) => {
  const { request, runtime, cookies, tenant } = context;
  const text = await readText(request, "application/x-www-form-urlencoded");
  if (!text.ok) return refuseBody(text.reason);
  const form = new URLSearchParams(text.value);
  const type = flowTypes.find((name) => name === form.get("flow"));
  const action = form.get("action");
  const version = form.get("version") ?? "";
  if (!type || !action || !/^\d{1,9}$/.test(version) || form.size > FIELD_LIMIT)
    return refuseBody("malformed");

  const drawn = await pageState(runtime, tenant, cookies, type);
  const descriptor = Object.hasOwn(drawn.state.actions, action) ? drawn.state.actions[action] : undefined;
  const input = readForm(form, descriptor?.inputs ?? {});
  const acted = await actOnPage(context, { type, action, version: Number(version), input });
  // A second click, or one after a lost answer: the page shows where the flow is now, and its next form works.
  const outcome = isRefused(acted) ? await currentOnPage(context, type) : acted;
  return redirect(303, pageAddress(type), {
    headers: outcome.headers,
    cookies: [...outcome.cookies, ...noticeOf(outcome, tenant)],
  });
};

/** Where the hosted page draws a flow of this type. */
function pageAddress(type: FlowType): string {
  return type === "login" ? "/" : `/?flow=${type}`;
}

function isRefused({ answer: { state } }: PageReply): boolean {
  return state.name === "error" && state.status === 403;
}

/** A form that came late shows what the flow is at now, which tells enough; other refusals have no state to stand in. */
function noticeOf({ answer: { state } }: PageReply, { config }: Tenant): string[] {
  return state.name === "error" && state.status !== 403 && state.error
    ? [noticeCookie(state.error.code, config)]
    : [];
}

function refuseBody(problem: "too_large" | "malformed") {
  return problem === "too_large"
    ? plainError(413, "The form is too large.", { Connection: "close" })
    : plainError(400, "The form is not valid.");
}
