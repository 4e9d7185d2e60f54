import type { Databases } from "#db/client";
import { type BrowserContext, browserAccounts, isOfSession } from "../account/browser-accounts.ts";
import type { Sealing } from "../keys/vault.ts";
import type { Session } from "../objects/session.ts";
import type { OpenidAnswers } from "../openid/providers.ts";
import type { FlowData } from "./data.ts";

/**
 * What the user of a login chooses from, for an authorization request that asks for that.
 *
 * @param session that the browser is signed in with
 * @returns undefined if it is off, if the request does not wait for a choice, or if the browser knows no account: the user signs
 *   in
 */
export async function accountChoice(
  context: BrowserContext<Databases & Sealing & OpenidAnswers>,
  request: string,
  session: Session | undefined,
): Promise<FlowData["choice"]> {
  const { enabled, account_choice } = context.tenant.config.openid;
  if (!enabled || !account_choice) return undefined;
  const [waits, accounts] = await Promise.all([
    context.runtime.openid.awaitsChoice(context.tenant, request),
    browserAccounts(context, request, session),
  ]);
  if (!waits || accounts.length === 0) return undefined;
  const isSignedIn = accounts.some(({ key }) => isOfSession(key));
  return { request, accounts, ...(isSignedIn && session ? { userId: session.userId } : {}) };
}
