import { firstState, peek } from "../flow/engine.ts";
import type { FlowType } from "../flow/names.ts";
import { showError } from "../flow/show.ts";
import type { FlowState } from "../flow/wire.ts";
import type { Runtime } from "../runtime.ts";
import { readNotice } from "./notice.ts";
import { openPageCookie } from "./page-cookie.ts";
import { type PageAnswer, UNSTARTED } from "./page-flow.ts";

/**
 * What the hosted page draws: the state of the flow that the browser has under way, or the first state of one not
 * yet started. Reads only.
 *
 * @param cookies the `Cookie` header of the page's request
 */
export async function pageState(
  runtime: Runtime,
  cookies: string | null,
  type: FlowType,
): Promise<PageAnswer> {
  const { tenant } = runtime;
  const flow = await openPageCookie(runtime, tenant, type, cookies);
  if (flow?.finished !== undefined) {
    return {
      version: flow.finished,
      state: signedIn,
      ...(flow.redirectTo ? { redirect_to: flow.redirectTo } : {}),
    };
  }
  const shown = flow && (await peek(runtime, tenant, { type, ...flow }));
  if (shown) return { version: shown.version, state: { ...shown.state, csrf_token: "" } };
  const first = firstState(tenant, type);
  const notice = readNotice(cookies);
  if (notice === null) return { version: UNSTARTED, state: first };
  const { status, error } = showError(notice);
  return { version: UNSTARTED, state: { ...first, status, ...(error ? { error } : {}) } };
}

/** The end of a flow, for a page that has no answer of its own to draw. */
const signedIn: FlowState = {
  name: "success",
  status: 200,
  payload: {},
  csrf_token: "",
  actions: {},
  links: null,
};
