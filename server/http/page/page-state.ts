import type { Tenant } from "../../config/tenant.ts";
import type { Client } from "../../context/client.ts";
import { peek } from "../../flow/current.ts";
import { detailedState } from "../../flow/error-codes.ts";
import { firstAccountState } from "../../flow/first-state.ts";
import { type FlowType, isOfSession } from "../../flow/names.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import type { Session } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { verifySession } from "../../sessions/verify-session.ts";
import type { RequestHeaders } from "../request/api-request.ts";
import { markIn } from "../request/cookies.ts";
import { cookieTokens, recordRefusedCookie } from "../session/presented-session.ts";
import type { Frame } from "./frame.ts";
import { withNotice } from "./notice.ts";
import type { PageAnswer } from "./page-answer.ts";
import { openFlowCookie, openPageCookie } from "./page-cookie.ts";
import { supportNumberOf, UNSTARTED } from "./page-flow.ts";
import { unstartedConsent, unstartedState } from "./unstarted-state.ts";

/** Who asks for a page, for the audit log. */
export interface PageVisit {
  client: Client;
  headers: RequestHeaders;
}

/**
 * Returns the state that the hosted page displays: that of the browser's flow, or the first state of a flow that is not
 * started. Reads only, except that a session cookie without its bound cookie is recorded.
 *
 * @param cookies the `Cookie` header of the page's request
 * @param frame the page in whose frame the flow is displayed, if any
 * @param visit absent where the session of the same request is judged in another place too
 */
export async function pageState(
  runtime: Runtime,
  tenant: Tenant,
  cookies: string | null,
  type: FlowType,
  frame?: Frame,
  visit?: PageVisit,
): Promise<PageAnswer> {
  const answer = await readState(runtime, tenant, cookies, type, frame, visit);
  const notice = frame ? null : await openPageCookie(runtime, tenant, "notice", cookies);
  const isAboutIt = notice?.type === type && Object.keys(answer.state.actions).length > 0;
  const state = isAboutIt ? withNotice(answer.state, notice) : answer.state;
  return { ...answer, state: detailedState(state, tenant.config) };
}

async function readState(
  runtime: Runtime,
  tenant: Tenant,
  cookies: string | null,
  type: FlowType,
  frame: Frame | undefined,
  visit: PageVisit | undefined,
): Promise<PageAnswer> {
  const session = isOfSession(type) ? await visitorSession(runtime, tenant, cookies, visit) : undefined;
  if (isOfSession(type) && !session) return { version: UNSTARTED, state: showError("unauthorized") };
  const flow = await openFlowCookie(runtime, tenant, { type, frame, cookies });
  const codes = await openPageCookie(runtime, tenant, "codes", cookies);
  /** A stored state, with the recovery codes that a form has just created with it. */
  const displayed = (state: FlowState, flowId: string, version: number): FlowState => ({
    ...state,
    csrf_token: "",
    payload:
      codes?.flowId === flowId && codes.version === version
        ? { ...state.payload, recovery_codes: codes.codes }
        : state.payload,
  });
  const unstarted = async (): Promise<PageAnswer> => {
    const browser = {
      // A frame has no destination.
      cookies: frame ? null : cookies,
      markCookie: markIn(cookies, tenant),
      session: () => visitorSession(runtime, tenant, cookies, visit),
    };
    return { version: UNSTARTED, state: await unstartedState(runtime, tenant, browser, type) };
  };
  // The result of a finished flow was passed to the page of the frame; a reload of that page asks for another sign-in.
  if (frame && flow?.finished !== undefined) return unstarted();
  if (flow?.finished !== undefined) {
    const end = await peek(runtime, tenant, { type, ...flow });
    return {
      version: flow.finished,
      state: end ? displayed(end.state, flow.flowId, flow.finished) : signedIn,
      ...supportNumberOf(tenant, flow),
      ...(flow.redirectTo ? { redirect_to: flow.redirectTo } : {}),
    };
  }
  const shown = flow && (await peek(runtime, tenant, { type, ...flow, ...(session ? { session } : {}) }));
  if (flow && shown) {
    const { state, version } = shown;
    return { version, state: displayed(state, flow.flowId, version), ...supportNumberOf(tenant, flow) };
  }
  if (type === "consent")
    return { version: UNSTARTED, state: await unstartedConsent(runtime, tenant, cookies, session) };
  const account = session && (await firstAccountState(runtime, tenant, session));
  return account ? { version: UNSTARTED, state: account } : unstarted();
}

/** The session of the page's visitor. Displaying a page does not count as use of the session. */
async function visitorSession(
  runtime: Runtime,
  tenant: Tenant,
  cookies: string | null,
  visit: PageVisit | undefined,
): Promise<Session | undefined> {
  const verified = await verifySession(runtime, tenant, cookieTokens(tenant, cookies), { touch: false });
  if (visit && !verified.ok && verified.reason === "binding_required")
    await recordRefusedCookie({ runtime, tenant, ...visit }, verified);
  return verified.ok ? verified.session : undefined;
}

/** Stands for the last state of a flow that can no longer be read. */
const signedIn: FlowState = {
  name: "success",
  status: 200,
  payload: {},
  csrf_token: "",
  actions: {},
  links: null,
};
