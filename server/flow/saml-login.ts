import type { Config } from "../config/schema.ts";
import { redirectByDomain, samlReturnUrl } from "../thirdparty/saml/authn-request.ts";
import { enabledSamlProviders } from "../thirdparty/saml/identity-providers.ts";
import { ThirdPartyError } from "../thirdparty/third-party-error.ts";
import type { Context } from "./define.ts";
import { go, type Outcome, refuse } from "./outcome.ts";

/** Whether people with certain addresses sign in by SAML here. */
export function samlLogin(config: Config): boolean {
  return config.email.enabled && enabledSamlProviders(config).length > 0;
}

/**
 * Sends whoever has an address in the domain of a SAML provider there. It depends on the domain alone, so it does not
 * tell whether the account exists.
 *
 * @param email canonical
 * @param input the name of the input that the address came in
 * @returns null when no provider has the domain
 */
export async function goToSamlProvider(
  { request, flowId }: Pick<Context, "request" | "flowId">,
  email: string,
  input: string,
): Promise<Outcome<"thirdparty", "value_invalid_error"> | null> {
  try {
    const redirectTo = samlReturnUrl(request);
    const sent = await redirectByDomain(request, { flowId, email, redirectTo });
    if (!sent) return null;
    // The address holds the state, which is kept as a hash otherwise.
    const { redirectUrl, cookieChanges, write } = sent;
    const data = { returnTo: redirectTo };
    return go("thirdparty", { data, secrets: { redirect_url: redirectUrl }, cookieChanges, writes: [write] });
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    const { reason, cause, message } = error;
    const line = { err: cause, reason, request_id: request.client.requestId };
    request.runtime.log.warn(line, "a SAML provider could not be asked");
    return refuse("value_invalid_error", { input, message });
  }
}
