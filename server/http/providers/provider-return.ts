import { readNow } from "#db/clock";
import { audit } from "../../audit/audit.ts";
import type { ThirdPartyRequest } from "../../thirdparty/authorization-requests.ts";
import { ownPage, withError } from "../../thirdparty/redirect-urls.ts";
import { ThirdPartyError } from "../../thirdparty/third-party-error.ts";
import { cookieValues, thirdPartyStateName } from "../cookies.ts";
import type { HandlerContext } from "../handler-context.ts";
import { type Reply, redirect } from "../reply.ts";

/** What is done with people who come back from an identity provider without having got in. */

/** As `openThirdPartyRequest` makes them; nothing else is worth a look into the database. */
export const statePattern = /^[A-Za-z0-9_-]{43}$/;

/** Whether the browser that comes back with a state is the one that went with it. */
export function isSameBrowser({ cookies }: HandlerContext, state: string): boolean {
  return cookieValues(cookies, thirdPartyStateName).includes(state);
}

/** A state that nobody was given here, that was used before, or that has run out. */
export const unknownState = () =>
  new ThirdPartyError(
    "invalid_request",
    "This sign-in was finished before, or has taken too long. Start again.",
    "unknown_state",
  );

export const otherBrowser = () =>
  new ThirdPartyError(
    "invalid_request",
    "The sign-in was begun in another browser. Start again.",
    "other_browser",
  );

/** What went wrong, as it is told: what nobody expected is not. */
export function failureOf(error: unknown): ThirdPartyError {
  if (error instanceof ThirdPartyError) return error;
  return new ThirdPartyError("server_error", "The sign-in failed on our side.", "unexpected", {
    cause: error,
  });
}

/** Nobody knows where this person wanted to go. */
export function redirectWithError(context: HandlerContext, failure = unknownState()): Reply {
  const { config } = context.tenant;
  const { error_redirect_url } = config.third_party;
  const target = error_redirect_url ? new URL(error_redirect_url) : ownPage(config);
  logFailure(context, null, failure);
  return redirect(303, withError(target, failure.code, failure.message));
}

/** Tells the operator. Only the reason is told: what a provider sends may hold secrets. */
export function logFailure(
  { runtime, client }: HandlerContext,
  provider: string | null,
  { code, reason, cause }: ThirdPartyError,
): void {
  const line = { provider, reason, request_id: client.requestId };
  if (code === "server_error") runtime.log.error({ ...line, err: cause }, "a third-party sign-in failed");
  else runtime.log.info(line, "a third-party sign-in was refused");
}

/** The same, and for longer, of somebody whom we have sent to a provider: nobody else can fill the audit log. */
export async function recordFailure(
  context: HandlerContext,
  { provider, userId }: Pick<ThirdPartyRequest, "provider" | "userId">,
  failure: ThirdPartyError,
): Promise<void> {
  logFailure(context, provider, failure);
  const { runtime, client } = context;
  const { code, reason } = failure;
  try {
    const now = await readNow(runtime.database.read, runtime.platform.clockShift());
    const details = { provider, error: code, reason };
    const entry = audit({ ...context, now }, "thirdparty_signin_signup_failed", details, userId ?? null);
    await runtime.database.write.transaction(entry);
  } catch (error) {
    runtime.log.error({ err: error, request_id: client.requestId }, "an audit line could not be written");
  }
}
