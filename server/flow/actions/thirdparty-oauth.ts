import { z } from "zod";
import { circumstanceOfSettings } from "../../conditions/condition.ts";
import { ownOrigin } from "../../config/own-hosts.ts";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { codeChallengeOf, codeVerifierPattern } from "../../lib/pkce.ts";
import { MAX_REDIRECT_LENGTH } from "../../redirects/redirect-target.ts";
import type { RequestContext } from "../../runtime.ts";
import { THIRD_PARTY_REQUEST_SECONDS } from "../../thirdparty/authorization-requests.ts";
import { startAuthorization } from "../../thirdparty/oauth.ts";
import { enabledOAuthProviders, findProvider } from "../../thirdparty/providers/index.ts";
import { allowedReturnUrls, parseReturnUrl } from "../../thirdparty/redirect-urls.ts";
import { action, type Context, type View } from "../define.ts";
import { byConfig } from "../inputs.ts";
import { go, type Outcome, rateLimited, reject } from "../outcome.ts";
import { oneOf } from "../profile/choice.ts";

/** RFC 7636, 4.1: 43 to 128 characters. */
export const codeVerifier = () =>
  z.string().min(43).max(128).regex(codeVerifierPattern).optional().meta({ hidden: true });

/** Input for signing in through a provider, and for connecting one to an account. */
export const thirdPartyInput = byConfig((config) =>
  z.strictObject({
    provider: oneOf(enabledOAuthProviders(config)),
    // The flow stores it while the user reauthenticates.
    redirect_to: z
      .string()
      .refine((text) => text.length <= MAX_REDIRECT_LENGTH)
      .meta({ hidden: true }),
    code_verifier: codeVerifier(),
  }),
);

const offersProviders = circumstanceOfSettings<Pick<View, "config">>(
  "providers",
  ({ config }) => enabledOAuthProviders(config).length > 0,
  { holds: "an identity provider is enabled", fails: "no identity provider is enabled" },
);

/** Errors of `goToProvider`. */
export const goToProviderErrors = [
  "value_invalid_error",
  "value_missing_error",
  "rate_limit_exceeded",
] as const;

/**
 * Redirects the user to an identity provider; in a profile flow, to connect an identity to the account or to
 * reauthenticate.
 *
 * The return is bound to the same browser: by a cookie or, for pages of other sites, where browsers may drop our
 * cookies, by a code verifier that the exchange must present (RFC 7636).
 */
export async function goToProvider(
  context: Context,
  { provider: providerId, redirect_to, code_verifier }: z.output<ReturnType<typeof thirdPartyInput>>,
  { reauthenticates = false } = {},
): Promise<Outcome<"thirdparty", (typeof goToProviderErrors)[number]>> {
  const { type, request, flowId, data, config } = context;
  const provider = findProvider(config, providerId);
  if (!provider) return reject("value_invalid_error", { input: "provider" });
  const target = parseReturnUrl(redirect_to, config, allowedReturnUrls(config));
  if (!target) return reject("value_invalid_error", { input: "redirect_to" });
  const otherSite = isAllowedCrossSite(request);
  if (otherSite && !code_verifier) return reject("value_missing_error", { input: "code_verifier" });

  // Each redirect is stored for ten minutes, and may fetch the metadata of the provider.
  const { runtime, tenant, client } = request;
  const rate = await runtime.rates.consume(tenant.id, "flow_start", `third_party/${client.source}`);
  if (!rate.ok) return rateLimited(rate.retryAfterSeconds);

  try {
    const { url, state, write } = await startAuthorization(request, provider, {
      flowId,
      redirectTo: target.href,
      ...(code_verifier ? { codeChallenge: codeChallengeOf(code_verifier) } : {}),
      ...(type === "profile" && data.userId ? { userId: data.userId } : {}),
      reauthenticates,
      privateState: { boundBy: otherSite ? "verifier" : "cookie" },
    });
    return go("thirdparty", {
      data: { returnTo: target.href },
      // The URL contains the `state`, which is stored as a hash elsewhere.
      secrets: { redirect_url: url },
      cookieChanges: { thirdPartyState: { value: state, seconds: THIRD_PARTY_REQUEST_SECONDS } },
      writes: [write],
    });
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    const { reason } = error;
    runtime.log.warn(
      { err: error.cause, provider: provider.id, reason, request_id: client.requestId },
      "The identity provider could not be reached.",
    );
    return reject("value_invalid_error", { input: "provider", message: error.message });
  }
}

/** Whether the request comes from a page of another, allowed site. */
function isAllowedCrossSite({ client, tenant }: RequestContext): boolean {
  const { origin } = client;
  const { cors } = tenant.config;
  return origin != null && origin !== ownOrigin(tenant.config) && cors.allow_origins.includes(origin);
}

/** Signs in through an identity provider. */
export const thirdpartyOauth = action({
  description: "Sign in with an identity provider.",
  costs: ["write"],
  input: thirdPartyInput,
  when: offersProviders,
  to: ["thirdparty"],
  errors: goToProviderErrors,
  run: (context, input) => goToProvider(context, input),
});
