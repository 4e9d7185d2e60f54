import type { Write } from "#db/write";
import type { Config } from "../../config/schema.ts";
import type { CookieChanges } from "../../context/client.ts";
import type { RequestContext, TenantContext } from "../../context/context.ts";
import { currentTime } from "../../database/current-time.ts";
import {
  openThirdPartyRequest,
  THIRD_PARTY_REQUEST_SECONDS,
  testedProvider,
} from "../authorization-requests.ts";
import type { Process } from "../process.ts";
import { basePageUrl, type ReturnUrls } from "../redirect-urls.ts";
import { samlProviderId } from "./attribute-mapping.ts";
import { loadProvider, type ProviderSettings, settingsForAddress } from "./identity-providers.ts";
import { samlKey } from "./saml-keys.ts";
import { authnRequestUrl } from "./service-provider.ts";

/** A started request to a SAML provider. */
export interface SamlRedirect {
  /** URL of the request. */
  redirectUrl: string;
  /** Must be returned with the response. */
  state: string;
  /** Stores the request. */
  write: Write;
  /** Bind the response to the browser. */
  cookieChanges: CookieChanges;
}

/** Prefix of `RelayState` in responses to our requests; IdP-initiated responses lack it. */
export const RELAY_STATE_PREFIX = "stile_sp_";

/**
 * Starts a request to the SAML provider of a mail domain.
 *
 * @param about `flowId`: the requesting flow; `email`: canonical; `redirectTo`: return URL, already checked
 * @returns null if no provider has that domain
 * @throws ThirdPartyError if the provider is not usable at the moment
 */
export async function redirectByDomain(
  context: Pick<RequestContext<Process>, "runtime" | "tenant" | "now">,
  { flowId, email, redirectTo }: { flowId: string; email: string; redirectTo: string },
): Promise<SamlRedirect | null> {
  const settings = settingsForAddress(context.tenant.config, email);
  return settings && startSamlRequest(context, settings, { flowId, redirectTo });
}

/**
 * Starts a request to a provider.
 *
 * @param about `flowId`: null if no flow requests it; the response then starts one; `userId`: the account that has to
 *   authenticate again, in a profile flow; `testId`: the test that the request is
 * @throws ThirdPartyError if the provider is not usable at the moment
 */
export async function startSamlRequest(
  context: Pick<RequestContext<Process>, "runtime" | "tenant" | "now">,
  settings: ProviderSettings,
  {
    flowId,
    redirectTo,
    userId,
    testId,
  }: { flowId: string | null; redirectTo: string; userId?: string; testId?: string },
): Promise<SamlRedirect> {
  const { runtime, tenant, now } = context;
  const provider = await loadProvider(context, settings, now);
  const forceAuthn = userId !== undefined || tenant.config.saml.options.force_login;
  const requestId = `_${runtime.platform.randomBytes(20).toString("hex")}`;
  const { state, write } = openThirdPartyRequest(context, {
    flowId,
    provider:
      testId === undefined
        ? samlProviderId(provider.entityId)
        : testedProvider(samlProviderId(provider.entityId)),
    redirectTo,
    ...(userId === undefined ? {} : { userId }),
    privateState: {
      requestId,
      boundBy: "cookie",
      ...(testId === undefined ? {} : { test: testId }),
      ...(forceAuthn ? { reauthenticatedSince: now.toISOString() } : {}),
    },
  });
  const signing = await samlKey(context, "saml_signing");
  const relayState = RELAY_STATE_PREFIX + state;
  const redirectUrl = await authnRequestUrl(tenant.config, provider, signing, {
    requestId,
    relayState,
    forceAuthn,
  });
  return {
    redirectUrl,
    state,
    write,
    cookieChanges: { thirdPartyState: { value: state, seconds: THIRD_PARTY_REQUEST_SECONDS } },
  };
}

/** Opens a request that belongs to no flow, and stores it. */
export async function beginSamlSignOn(
  { runtime, tenant }: TenantContext<Process>,
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
 * Returns the return URL of a sign-in by mail domain: the origin of the requesting page, if CORS allows it.
 */
export function samlReturnUrl({
  client,
  tenant,
}: Pick<RequestContext<unknown>, "client" | "tenant">): string {
  const { config } = tenant;
  const { origin } = client;
  const isAllowed = origin != null && config.cors.allow_origins.includes(origin);
  // Origins with an app's own scheme are not pages.
  if (isAllowed && /^https?:/.test(origin)) return new URL(origin).href;
  // Forms of our own page may send an opaque origin.
  return origin == null ? samlDefaultReturnUrl(config) : basePageUrl(config).href;
}

/** Returns the return URL without a requesting page. */
export function samlDefaultReturnUrl(config: Config): string {
  return config.saml.default_redirect_url ?? basePageUrl(config).href;
}

/** Returns the allowed return URLs for SAML. */
export function samlReturnAddresses({ saml, cors }: Config): ReturnUrls {
  const { allowed_redirect_urls, default_redirect_url } = saml;
  // Origins that may call this service may also receive its users; see `samlReturnUrl`.
  const origins = cors.allow_origins.map((origin) => `${origin}/`);
  return {
    listed: allowed_redirect_urls,
    further: [...origins, ...(default_redirect_url ? [new URL(default_redirect_url).href] : [])],
  };
}
