import type { Config } from "../config/schema.ts";
import { ThirdPartyError } from "../failures/third-party.ts";
import { parseReturnUrl } from "../thirdparty/redirect-urls.ts";
import {
  redirectByDomain,
  type SamlRedirect,
  samlReturnAddresses,
  samlReturnUrl,
  startSamlRequest,
} from "../thirdparty/saml/authn-request.ts";
import { enabledSamlProviders, settingsForEntityId } from "../thirdparty/saml/identity-providers.ts";
import type { Context } from "./define.ts";
import { go, type Outcome, reject } from "./outcome.ts";

type SamlOutcome = Outcome<"thirdparty", "value_invalid_error">;

/** Whether the configuration sends some email domains to a SAML provider. */
export function allowsSamlLogin(config: Config): boolean {
  return config.email.enabled && enabledSamlProviders(config).length > 0;
}

/**
 * Redirects a user whose address is in the domain of a SAML provider. It depends on the domain alone, so it does not
 * reveal whether the account exists.
 *
 * @param email canonical
 * @param input name of the input that held the address
 * @returns null if no provider has the domain
 */
export async function goToSamlProvider(
  { request, flowId }: Pick<Context, "request" | "flowId">,
  email: string,
  input: string,
): Promise<SamlOutcome | null> {
  const redirectTo = samlReturnUrl(request);
  return redirected(request, { redirectTo, input }, () =>
    redirectByDomain(request, { flowId, email, redirectTo }),
  );
}

/** Redirects the user of a profile flow to a linked SAML provider, to authenticate there again. */
export async function reauthenticateWithSamlProvider(
  { request, flowId, data, config }: Pick<Context, "request" | "flowId" | "data" | "config">,
  { entityId, redirect_to }: { entityId: string; redirect_to: string },
): Promise<SamlOutcome> {
  const settings = settingsForEntityId(config, entityId);
  const { userId } = data;
  if (!settings || !userId) return reject("value_invalid_error", { input: "provider" });
  const target = parseReturnUrl(redirect_to, config, samlReturnAddresses(config));
  if (!target) return reject("value_invalid_error", { input: "redirect_to" });
  const redirectTo = target.href;
  return redirected(request, { redirectTo, input: "provider" }, () =>
    startSamlRequest(request, settings, { flowId, userId, redirectTo }),
  );
}

/** @param input of the action, for the error of a provider that cannot be used */
async function redirected<Redirect extends SamlRedirect | null>(
  { runtime, client }: Context["request"],
  { redirectTo, input }: { redirectTo: string; input: string },
  start: () => Promise<Redirect>,
): Promise<SamlOutcome | Exclude<Redirect, SamlRedirect>> {
  try {
    const redirect = await start();
    if (redirect === null) return redirect as Exclude<Redirect, SamlRedirect>;
    // The URL contains the `state`, which is stored as a hash elsewhere.
    const { redirectUrl, cookieChanges, write } = redirect;
    const data = { returnTo: redirectTo };
    return go("thirdparty", { data, secrets: { redirect_url: redirectUrl }, cookieChanges, writes: [write] });
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    const { reason, cause, message } = error;
    const line = { err: cause, reason, request_id: client.requestId };
    runtime.log.warn(line, "The SAML provider could not be reached.");
    return reject("value_invalid_error", { input, message });
  }
}
