import type { Tenant } from "../../config/tenant.ts";
import { accountChoice } from "../../flow/browser-choice.ts";
import { firstConsentState, firstState } from "../../flow/first-state.ts";
import type { FlowType } from "../../flow/names.ts";
import type { ActionName } from "../../flow/protocol-names.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import { unstartedRequestOptions } from "../../methods/passkey/passkeys.ts";
import type { Session } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { askedNow } from "./destination.ts";
import { withLoginHint } from "./filled-inputs.ts";
import { openPageCookie, type ShownAuthorization } from "./page-cookie.ts";

const USES_PASSKEY: ActionName = "webauthn_verify_assertion_response";

/** A browser, as far as a page reads it before a flow is started. */
export interface UnstartedBrowser {
  /** The `Cookie` header; null in a frame and for a page of another origin, which have no destination. */
  cookies: string | null;
  markCookie: string | null;
  /** The session that it is signed in with. Read only where the state is about it. */
  session(): Promise<Session | undefined>;
}

/**
 * The state that a page shows of a flow that is not started: its first one, with what the application asks of the sign-in, and
 * with what a passkey is asked for with, so that the passkey's response can begin the flow. Nothing is stored.
 */
export async function unstartedState(
  runtime: Runtime,
  tenant: Tenant,
  browser: UnstartedBrowser,
  type: FlowType,
): Promise<FlowState> {
  const destination = await openPageCookie(runtime, tenant, "destination", browser.cookies);
  const now = new Date(Date.now() + runtime.platform.clockShift());
  const { loginHint, choosing } = askedNow(destination, now.getTime());
  const client = { markCookie: browser.markCookie };
  const choice =
    type === "login" && choosing !== undefined
      ? await accountChoice({ runtime, tenant, client, now }, choosing, await browser.session())
      : undefined;
  const state = firstState(tenant, type, choice);
  const shown = loginHint === undefined ? state : withLoginHint(state, loginHint);
  if (!Object.hasOwn(shown.actions, USES_PASSKEY)) return shown;
  const request_options = unstartedRequestOptions({ runtime, tenant, client });
  return { ...shown, payload: { ...shown.payload, request_options } };
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
