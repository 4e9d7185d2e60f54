import type { Config } from "../../config/schema.ts";
import type { Runtime, TenantContext } from "../../runtime.ts";
import { boundedFetch, providerNetwork } from "../provider-fetch.ts";
import { ThirdPartyError } from "../third-party-error.ts";
import { type IdentityProviderMetadata, parseMetadata } from "./identity-provider-metadata.ts";
import { XmlError } from "./xml-error.ts";

/** A provider as the tenant configures it. */
export type ProviderSettings = Config["saml"]["identity_providers"][number];

/** A provider, and what its metadata says. */
export interface IdentityProvider extends IdentityProviderMetadata {
  settings: ProviderSettings;
}

/** Metadata that was fetched from somewhere. Moments are in milliseconds since 1970. */
interface FetchedMetadata {
  metadata: IdentityProviderMetadata | null;
  /** When it is fetched again. */
  freshUntil: number;
  /** How long it serves while it cannot be. */
  usableUntil: number;
}

const HOUR_MS = 3_600_000;
const metadataLifetimesMs = { fresh: HOUR_MS, usable: 24 * HOUR_MS, afterFailure: 30_000 };

/** Less than a step may be judged, so that a provider that does not answer is a refusal and no fault. */
const MAX_FETCH_SECONDS = 6;

const configuredCache = new WeakMap<ProviderSettings, IdentityProviderMetadata | null>();

const fetchedCaches = new WeakMap<Runtime, Map<string, Promise<FetchedMetadata>>>();

/** The providers that a tenant lets people come from. */
export function enabledSamlProviders({ saml }: Config): ProviderSettings[] {
  return saml.enabled ? saml.identity_providers.filter(({ enabled }) => enabled) : [];
}

/** The provider whose people have addresses in a domain. */
export function settingsForDomain(config: Config, domain: string): ProviderSettings | null {
  return enabledSamlProviders(config).find(({ domains }) => domains.includes(domain.toLowerCase())) ?? null;
}

/**
 * Reads a provider's metadata: from the configuration, or from its address, at most once an hour.
 *
 * @param now the request's moment
 * @throws ThirdPartyError when there is none that could be used
 */
export async function loadProvider(
  deployment: TenantContext,
  settings: ProviderSettings,
  now: Date,
): Promise<IdentityProvider> {
  const { config } = deployment.tenant;
  const metadata =
    settings.metadata === undefined
      ? await fetchedMetadata(deployment, settings, now)
      : configuredMetadata(deployment, settings, settings.metadata);
  const named = settings.entity_id === undefined || settings.entity_id === metadata?.entityId;
  if (!metadata || !named || (metadata.validUntil && metadata.validUntil <= now)) {
    throw new ThirdPartyError("server_error", "The provider cannot be used right now.", "metadata_unusable");
  }
  if (config.saml.enabled && settings.enabled) return { ...metadata, settings };
  throw new ThirdPartyError("invalid_request", "The provider is not enabled.", "provider_disabled");
}

/**
 * The provider that calls itself by an entity id. Those whose metadata cannot be read are passed over.
 *
 * Metadata that the tenant has written down outranks what is fetched, because a provider may say of itself what it
 * likes, another's name too: whoever is called so signs in that other's people. Where that does not decide, nobody
 * is the one.
 *
 * @param entityId what a message says; nothing is believed of it yet
 */
export async function findByEntityId(
  deployment: TenantContext,
  entityId: string,
  now: Date,
): Promise<IdentityProvider | null> {
  // At once, so that one that does not answer keeps nobody waiting for the others.
  const providers = await Promise.all(
    enabledSamlProviders(deployment.tenant.config).map((settings) => loadIfUsable(deployment, settings, now)),
  );
  const namesakes = providers.filter((provider) => provider?.entityId === entityId);
  const written = namesakes.filter((provider) => provider?.settings.metadata !== undefined);
  const [provider = null, rival] = written.length > 0 ? written : namesakes;
  if (namesakes.length > 1) {
    const names = namesakes.map((accountWithSameEmail) => accountWithSameEmail?.settings.name);
    deployment.runtime.log.warn({ providers: names }, "SAML providers call themselves by one entity id");
  }
  return rival ? null : provider;
}

/**
 * The provider that an entity id belongs to, as far as the configuration alone tells.
 *
 * @returns null when it is none's. A provider whose name only its fetched metadata would tell may be the one
 */
export function settingsForEntityId(config: Config, entityId: string): ProviderSettings | null {
  const providers = enabledSamlProviders(config);
  const named = providers.find((settings) => configuredEntityId(settings) === entityId);
  return named ?? providers.find((settings) => configuredEntityId(settings) === undefined) ?? null;
}

function configuredEntityId(settings: ProviderSettings): string | undefined {
  const { entity_id, metadata } = settings;
  return entity_id ?? (metadata === undefined ? undefined : /\bentityID="([^"]*)"/.exec(metadata)?.[1]);
}

async function loadIfUsable(
  deployment: TenantContext,
  settings: ProviderSettings,
  now: Date,
): Promise<IdentityProvider | null> {
  try {
    return await loadProvider(deployment, settings, now);
  } catch (error) {
    if (error instanceof ThirdPartyError) return null;
    throw error;
  }
}

/** Whoever names a provider has all of them looked at, so each is read once. */
function configuredMetadata(
  deployment: TenantContext,
  settings: ProviderSettings,
  metadata: string,
): IdentityProviderMetadata | null {
  const known = configuredCache.get(settings);
  if (known !== undefined) return known;
  const written = parseOrLog(deployment, settings, metadata);
  configuredCache.set(settings, written);
  return written;
}

async function fetchedMetadata(
  deployment: TenantContext,
  settings: ProviderSettings,
  now: Date,
): Promise<IdentityProviderMetadata | null> {
  const { runtime, tenant } = deployment;
  const all = fetchedCaches.get(runtime) ?? new Map<string, Promise<FetchedMetadata>>();
  fetchedCaches.set(runtime, all);
  // What one tenant's provider says is not told to another.
  const key = `${tenant.id} ${settings.metadata_url}`;
  const known = all.get(key);
  const last = await known;
  const moment = now.getTime();
  // Whoever asks at the same moment shares the one fetch.
  if ((!last || last.freshUntil <= moment) && all.get(key) === known) {
    all.set(key, refresh(deployment, settings, last, moment));
  }
  const { metadata, usableUntil } = (await all.get(key)) ?? { metadata: null, usableUntil: 0 };
  return usableUntil > moment ? metadata : null;
}

async function refresh(
  deployment: TenantContext,
  settings: ProviderSettings,
  last: FetchedMetadata | undefined,
  moment: number,
): Promise<FetchedMetadata> {
  const text = await fetchText(deployment, settings);
  const metadata = text === null ? null : parseOrLog(deployment, settings, text);
  return metadata
    ? {
        metadata,
        freshUntil: moment + metadataLifetimesMs.fresh,
        usableUntil: moment + metadataLifetimesMs.usable,
      }
    : {
        metadata: last?.metadata ?? null,
        usableUntil: last?.usableUntil ?? moment + metadataLifetimesMs.afterFailure,
        freshUntil: moment + metadataLifetimesMs.afterFailure,
      };
}

async function fetchText(
  { runtime, tenant }: TenantContext,
  { name, metadata_url }: ProviderSettings,
): Promise<Uint8Array | null> {
  const { config } = tenant;
  const refuse = (reason: string) => {
    runtime.log.warn({ provider: name, reason }, "a SAML provider's metadata could not be fetched");
    return null;
  };
  const url = metadata_url === undefined ? null : new URL(metadata_url);
  if (!url || !(url.protocol === "https:" || (config.mode === "development" && isLoopback(url.hostname))))
    return refuse("metadata_url is no https address");
  const seconds = Math.min(config.third_party.timeout, MAX_FETCH_SECONDS);
  try {
    const fetch = boundedFetch(providerNetwork(runtime), AbortSignal.timeout(seconds * 1000));
    const response = await fetch(url.href, {
      method: "GET",
      headers: { accept: "application/samlmetadata+xml, application/xml, text/xml" },
      redirect: "manual",
      body: undefined,
    });
    if (response.status !== 200) return refuse(`it answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    return refuse(error instanceof ThirdPartyError ? error.reason : "it could not be reached");
  }
}

function parseOrLog(
  { runtime, tenant }: TenantContext,
  { name }: ProviderSettings,
  document: Uint8Array | string,
): IdentityProviderMetadata | null {
  try {
    return parseMetadata(document, { plainHttp: tenant.config.mode === "development" });
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    runtime.log.warn({ provider: name, reason: error.message }, "a SAML provider's metadata cannot be used");
    return null;
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
