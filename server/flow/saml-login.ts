import type { Config } from "../config/schema.ts";
import { redirectByDomain, samlReturnUrl } from "../thirdparty/saml/authn-request.ts";
import { enabledSamlProviders } from "../thirdparty/saml/identity-providers.ts";
import { ThirdPartyError } from "../thirdparty/third-party-error.ts";
import type { Context } from "./define.ts";
import { go, type Outcome, reject } from "./outcome.ts";

/** Whether the configuration sends some e-mail domains to a SAML provider. */
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
): Promise<Outcome<"thirdparty", "value_invalid_error"> | null> {
  try {
    const redirectTo = samlReturnUrl(request);
    const redirect = await redirectByDomain(request, { flowId, email, redirectTo });
    if (!redirect) return null;
    // The URL contains the `state`, which is stored as a hash elsewhere.
    const { redirectUrl, cookieChanges, write } = redirect;
    const data = { returnTo: redirectTo };
    return go("thirdparty", { data, secrets: { redirect_url: redirectUrl }, cookieChanges, writes: [write] });
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    const { reason, cause, message } = error;
    const line = { err: cause, reason, request_id: request.client.requestId };
    request.runtime.log.warn(line, "The SAML provider could not be reached.");
    return reject("value_invalid_error", { input, message });
  }
}
