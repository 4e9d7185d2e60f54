import type { Tenant } from "../../config/tenant.ts";
import { firstState } from "../../flow/first-state.ts";
import type { FlowType } from "../../flow/names.ts";
import type { ActionName } from "../../flow/protocol-names.ts";
import type { FlowState } from "../../flow/wire.ts";
import { unstartedRequestOptions } from "../../methods/passkey/passkeys.ts";
import type { Runtime } from "../../runtime.ts";

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
