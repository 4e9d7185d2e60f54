import type { Write } from "#db/write";
import type { CookieChanges } from "../../client.ts";
import type { Config } from "../../config/schema.ts";
import { currentTime } from "../../database/current-time.ts";
import type { RequestContext, TenantContext } from "../../runtime.ts";
import { openThirdPartyRequest, THIRD_PARTY_REQUEST_SECONDS } from "../authorization-requests.ts";
import { basePageUrl } from "../redirect-urls.ts";
import { samlProviderId } from "./attribute-mapping.ts";
import { loadProvider, type ProviderSettings, settingsForDomain } from "./identity-providers.ts";
import { samlKey } from "./saml-keys.ts";
import { authnRequestUrl } from "./service-provider.ts";

/** A person on their way to a SAML provider. */
export interface SamlRedirect {
  /** Where they are to be sent. */
  redirectUrl: string;
  /** What has to come back with them. */
  state: string;
  /** Makes the request known. */
  write: Write;
  /** What their browser keeps, to show that it is the one that went. */
  cookieChanges: CookieChanges;
}

/** How an answer to a request of ours is told from one that a provider sends by itself: `RelayState` begins so. */
export const RELAY_STATE_PREFIX = "stile_sp_";

/**
 * Sends a person to the SAML provider of their mail domain.
 *
 * @param about `flowId`: the flow that asks; `email`: canonical; `redirectTo`: where they come back to, already found
 *   to be allowed
 * @returns null when no provider has that domain
 * @throws ThirdPartyError when the provider cannot be used right now
 */
export async function redirectByDomain(
  context: Pick<RequestContext, "runtime" | "tenant" | "now">,
  { flowId, email, redirectTo }: { flowId: string; email: string; redirectTo: string },
): Promise<SamlRedirect | null> {
  const settings = settingsForDomain(context.tenant.config, email.slice(email.lastIndexOf("@") + 1));
  return settings && startSamlRequest(context, settings, { flowId, redirectTo });
}

/**
 * Opens a request to a provider.
 *
 * @param about `flowId`: null when no flow asks, and what comes back is for one that begins with it
 * @throws ThirdPartyError when the provider cannot be used right now
 */
export async function startSamlRequest(
  context: Pick<RequestContext, "runtime" | "tenant" | "now">,
  settings: ProviderSettings,
  { flowId, redirectTo }: { flowId: string | null; redirectTo: string },
): Promise<SamlRedirect> {
  const { runtime, tenant, now } = context;
  const provider = await loadProvider(context, settings, now);
  const requestId = `_${runtime.platform.randomBytes(20).toString("hex")}`;
  const { state, write } = openThirdPartyRequest(context, {
    flowId,
    provider: samlProviderId(provider.entityId),
    redirectTo,
    privateState: { requestId, askedAt: now.toISOString(), boundBy: "cookie" },
  });
  const signing = await samlKey(context, "saml_signing");
  const relayState = RELAY_STATE_PREFIX + state;
  const redirectUrl = await authnRequestUrl(tenant.config, provider, { signing }, { requestId, relayState });
  return {
    redirectUrl,
    state,
    write,
    cookieChanges: { thirdPartyState: { value: state, seconds: THIRD_PARTY_REQUEST_SECONDS } },
  };
}

/** Opens a request that belongs to no flow, and stores it. */
export async function beginSamlSignOn(
  { runtime, tenant }: TenantContext,
  settings: ProviderSettings,
  redirectTo: string,
): Promise<Pick<SamlRedirect, "redirectUrl" | "state">> {
  const context = { runtime, tenant, now: await currentTime(runtime) };
  const { write, redirectUrl, state } = await startSamlRequest(context, settings, {
    flowId: null,
    redirectTo,
  });
  await runtime.database.write.transaction(write);
  return { redirectUrl, state };
}

/**
 * Where a person comes back to who named themselves by an address: the page that asked. Only its origin is known, and
 * it counts only where pages of that origin may use this service.
 */
export function samlReturnUrl({ client, tenant }: Pick<RequestContext, "client" | "tenant">): string {
  const { config } = tenant;
  const { origin } = client;
  const mayAsk = origin != null && config.cors.allow_origins.includes(origin);
  // An app's own scheme leads to no page.
  if (mayAsk && /^https?:/.test(origin)) return new URL(origin).href;
  // A form of our own page may say no more of where it stands than that it is somewhere.
  return origin == null ? samlDefaultReturnUrl(config) : basePageUrl(config).href;
}

/** Where people go whom nobody waits for. */
export function samlDefaultReturnUrl(config: Config): string {
  return config.saml.default_redirect_url ?? basePageUrl(config).href;
}
