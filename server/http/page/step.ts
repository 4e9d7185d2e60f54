import { type FlowType, flowTypes } from "../../flow/names.ts";
import type { Runtime } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { readText } from "../body.ts";
import type { Handler } from "../handler-context.ts";
import { plainError, redirect } from "../reply.ts";
import { readForm } from "./form.ts";
import { noticeCookie } from "./notice.ts";
import { expiredPageCookie, pageCookie } from "./page-cookie.ts";
import { actOnPage, currentOnPage, type PageReply } from "./page-flow.ts";
import { pageState } from "./page-state.ts";

/** Long enough for the redirect. The page that displays the codes removes their cookie. */
const NEW_CODES_SECONDS = 60;

/** In place of an action: abandons the flow, for a user who wants another account. No action has this name. */
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
  if (!text.ok) return bodyError(text.reason);
  const form = new URLSearchParams(text.value);
  const type = flowTypes.find((name) => name === form.get("flow"));
  const action = form.get("action");
  const version = form.get("version") ?? "";
  if (!type || !action || !/^\d{1,9}$/.test(version) || form.size > MAX_FIELDS) return bodyError("malformed");

  if (action === START_OVER)
    return redirect(303, pageAddress(type), { cookies: [expiredPageCookie(tenant, type)] });

  const page = await pageState(runtime, tenant, cookies, type);
  const descriptor = Object.hasOwn(page.state.actions, action) ? page.state.actions[action] : undefined;
  const input = readForm(form, descriptor?.inputs ?? {});
  const capabilities = { webauthn_available: form.get("with_script") === "true" };
  const acted = await actOnPage(context, { type, action, version: Number(version), input, capabilities });
  // After a second click or a lost answer, the page shows the flow's current state, whose form works.
  const outcome = isNotPermitted(acted) ? await currentOnPage(context, type) : acted;
  return redirect(303, pageAddress(type), {
    headers: outcome.headers,
    cookies: [
      ...outcome.cookies,
      ...noticeCookies(outcome, tenant),
      ...(await codesCookies(runtime, tenant, outcome)),
    ],
  });
};

/** Address of the hosted page for a type of flow. */
function pageAddress(type: FlowType): string {
  return type === "login" ? "/" : `/?flow=${type}`;
}

function isNotPermitted({ answer: { state } }: PageReply): boolean {
  return state.name === "error" && state.status === 403;
}

/** An outdated form leads to the current state, which needs no notice. Other errors have no state to appear in. */
function noticeCookies({ answer: { state } }: PageReply, { config }: Tenant): string[] {
  return state.name === "error" && state.status !== 403 && state.error
    ? [noticeCookie(state.error.code, config)]
    : [];
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

function bodyError(reason: "too_large" | "malformed") {
  return reason === "too_large"
    ? plainError(413, "The form is too large.", { Connection: "close" })
    : plainError(400, "Invalid form.");
}
