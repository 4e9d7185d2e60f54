import type { Tenant } from "../../config/tenant.ts";
import { firstConsentState, firstState } from "../../flow/first-state.ts";
import type { FlowType } from "../../flow/names.ts";
import type { ActionName } from "../../flow/protocol-names.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import { unstartedRequestOptions } from "../../methods/passkey/passkeys.ts";
import type { Session } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { openPageCookie, type ShownAuthorization } from "./page-cookie.ts";

const USES_PASSKEY: ActionName = "webauthn_verify_assertion_response";

/**
 * The state that a page shows of a flow that is not started: its first one, with what a passkey is asked for with, so that
 * the passkey's response can begin the flow. Nothing is stored.
 *
 * @param client the browser
 */
export function unstartedState(
  runtime: Runtime,
  tenant: Tenant,
  client: { markCookie: string | null },
  type: FlowType,
): FlowState {
  const state = firstState(tenant, type);
  if (!Object.hasOwn(state.actions, USES_PASSKEY)) return state;
  const request_options = unstartedRequestOptions({ runtime, tenant, client });
  return { ...state, payload: { ...state.payload, request_options } };
}

/**
 * The state that a page shows of a consent flow that is not started: the question of the application that has sent the
 * browser here.
 *
 * @param cookies the `Cookie` header
 * @returns an error without a session, or where no application waits for an answer
 */
export async function unstartedConsent(
  runtime: Runtime,
  tenant: Tenant,
  cookies: string | null,
  session: Session | undefined,
): Promise<FlowState> {
  if (!session) return showError("unauthorized");
  const shown = await openPageCookie(runtime, tenant, "authorization", cookies);
  if (!shown) return showError("flow_expired_error");
  const asked = await askedBy(runtime, tenant, shown, session);
  const state = asked && (await firstConsentState(runtime, tenant, session, asked));
  return state ?? showError("flow_expired_error");
}

/** What a consent flow begins with; null if nothing waits for its user. */
async function askedBy(
  { openid }: Runtime,
  tenant: Tenant,
  shown: ShownAuthorization,
  { userId }: Session,
): Promise<Parameters<typeof firstConsentState>[3] | null> {
  const { enabled, device_flow } = tenant.config.openid;
  if ("userCode" in shown) return enabled && device_flow ? shown : null;
  const authorization = await openid.waitingAuthorization(tenant, shown.request, userId);
  return authorization && { authorization };
}
