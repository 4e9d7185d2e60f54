import type { Config } from "../../config/schema.ts";
import type { TenantContext } from "../../context/context.ts";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { isLoopback } from "../../lib/is-loopback.ts";
import { onceFor } from "../../lib/once-for.ts";
import { readKeysAgain } from "../key-readings.ts";
import type { Process } from "../process.ts";
import { boundedFetch, providerNetwork } from "../provider-fetch.ts";
import { type IdentityProviderMetadata, parseMetadata } from "./identity-provider-metadata.ts";
import { XmlError } from "./xml-error.ts";

/** The settings of a provider. */
export type ProviderSettings = Config["saml"]["identity_providers"][number];

/** A provider with its metadata. */
export interface IdentityProvider extends IdentityProviderMetadata {
  settings: ProviderSettings;
}

/** Cached metadata. Times are in milliseconds since 1970. */
interface FetchedMetadata {
  metadata: IdentityProviderMetadata | null;
  /** When it is refreshed. */
  freshUntil: number;
  /** How long it is used if a refresh fails. */
  usableUntil: number;
}

const HOUR_MS = 3_600_000;
const metadataLifetimesMs = { fresh: HOUR_MS, usable: 24 * HOUR_MS, afterFailure: 30_000 };

/** Below the time limit of a flow step, so that an unresponsive provider causes a flow error and not a 500. */
const MAX_FETCH_SECONDS = 6;

const configuredCache = new WeakMap<ProviderSettings, IdentityProviderMetadata | null>();

/** Fetched metadata of a process, by `fetchedKey`. */
const fetchedCache = onceFor((_runtime: object) => new Map<string, Promise<FetchedMetadata>>());

/** Returns the enabled providers of a tenant. */
export function enabledSamlProviders({ saml }: Config): ProviderSettings[] {
  return saml.enabled ? saml.identity_providers.filter(({ enabled }) => enabled) : [];
}

/** Returns the provider of a mail domain. */
export function settingsForDomain(config: Config, domain: string): ProviderSettings | null {
  return enabledSamlProviders(config).find(({ domains }) => domains.includes(domain.toLowerCase())) ?? null;
}

/** Returns the provider of the mail domain of an address. @param address canonical */
export function settingsForAddress(config: Config, address: string): ProviderSettings | null {
  return settingsForDomain(config, address.slice(address.lastIndexOf("@") + 1));
}

/**
 * Loads a provider's metadata, from the configuration or at most once an hour from its URL.
 *
 * @param now time of the request
 * @throws ThirdPartyError if it is not usable
 */
export async function loadProvider(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  now: Date,
): Promise<IdentityProvider> {
  const { config } = context.tenant;
  const metadata =
    settings.metadata === undefined
      ? await fetchedMetadata(context, settings, now)
      : configuredMetadata(context, settings, settings.metadata);
  const named = settings.entity_id === undefined || settings.entity_id === metadata?.entityId;
  if (!metadata || !named || (metadata.validUntil && metadata.validUntil <= now)) {
    throw new ThirdPartyError("server_error", "The provider cannot be used right now.", "metadata_unusable");
  }
  if (config.saml.enabled && settings.enabled) return { ...metadata, settings };
  throw new ThirdPartyError("invalid_request", "The provider is not enabled.", "provider_disabled");
}

/**
 * Finds the provider of an entity id. Providers without usable metadata are ignored.
 *
 * Configured metadata takes precedence over fetched metadata, because a provider could publish the entity id of another
 * one and sign in its users. If several providers remain, none is returned.
 *
 * @param entityId from an unverified message
 */
export async function findByEntityId(
  context: TenantContext<Process>,
  entityId: string,
  now: Date,
): Promise<IdentityProvider | null> {
  // Concurrently, so that the timeouts of several providers do not add up.
  const providers = await Promise.all(
    enabledSamlProviders(context.tenant.config).map((settings) => loadIfUsable(context, settings, now)),
  );
  const candidates = providers.filter((provider) => provider?.entityId === entityId);
  const written = candidates.filter((provider) => provider?.settings.metadata !== undefined);
  const [provider = null, rival] = written.length > 0 ? written : candidates;
  if (candidates.length > 1) {
    const names = candidates.map((provider) => provider?.settings.name);
    context.runtime.log.warn({ providers: names }, "several SAML providers have the same entity id");
  }
  return rival ? null : provider;
}

/**
 * Finds the provider of an entity id by the configuration only.
 *
 * @returns the match, else a provider whose entity id only its fetched metadata would tell, else null
 */
export function settingsForEntityId(config: Config, entityId: string): ProviderSettings | null {
  const providers = enabledSamlProviders(config);
  const named = providers.find((settings) => configuredEntityId(settings) === entityId);
  return named ?? providers.find((settings) => configuredEntityId(settings) === undefined) ?? null;
}

/** The position of the provider with an entity id among the settings; null if none has it. */
export function samlProviderPosition({ saml }: Config, entityId: string): number | null {
  const position = saml.identity_providers.findIndex((settings) => configuredEntityId(settings) === entityId);
  return position < 0 ? null : position;
}

/** The entity id that the configuration states; undefined if only fetched metadata would tell it. */
export function configuredEntityId(settings: ProviderSettings): string | undefined {
  const { entity_id, metadata } = settings;
  return entity_id ?? (metadata === undefined ? undefined : /\bentityID="([^"]*)"/.exec(metadata)?.[1]);
}

async function loadIfUsable(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  now: Date,
): Promise<IdentityProvider | null> {
  try {
    return await loadProvider(context, settings, now);
  } catch (error) {
    if (error instanceof ThirdPartyError) return null;
    throw error;
  }
}

/** Parsed once, because each look-up by entity id reads all providers. */
function configuredMetadata(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  metadata: string,
): IdentityProviderMetadata | null {
  const known = configuredCache.get(settings);
  if (known !== undefined) return known;
  const written = parseOrLog(context, settings, metadata);
  configuredCache.set(settings, written);
  return written;
}

async function fetchedMetadata(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  now: Date,
): Promise<IdentityProviderMetadata | null> {
  const { runtime } = context;
  const all = fetchedCache(runtime);
  const key = fetchedKey(context, settings);
  const known = all.get(key);
  const last = await known;
  const time = now.getTime();
  // Concurrent callers share one fetch.
  if ((!last || last.freshUntil <= time) && all.get(key) === known) {
    all.set(key, refresh(context, settings, last, time));
  }
  const { metadata, usableUntil } = (await all.get(key)) ?? { metadata: null, usableUntil: 0 };
  return usableUntil > time ? metadata : null;
}

/**
 * Reads the metadata of a provider again, because a signature failed and the provider may have changed its keys; at
 * most once in ten seconds. Metadata in the configuration stays as it is.
 *
 * @param now time of the request
 */
async function readMetadataAgain(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  now: Date,
): Promise<void> {
  const { runtime } = context;
  if (settings.metadata !== undefined) return;
  const all = fetchedCache(runtime);
  const key = fetchedKey(context, settings);
  const time = now.getTime();
  await readKeysAgain(providerNetwork(runtime).keyReadings, `saml ${key}`, time, async () => {
    const refreshed = refresh(context, settings, await all.get(key), time);
    all.set(key, refreshed);
    await refreshed;
  });
}

/**
 * Reads a provider whose signature failed again.
 *
 * @returns the provider with other certificates than before; null if its metadata has none
 */
export async function renewedProvider(
  context: TenantContext<Process>,
  { entityId, certificates, settings }: IdentityProvider,
  now: Date,
): Promise<IdentityProvider | null> {
  await readMetadataAgain(context, settings, now);
  const provider = await findByEntityId(context, entityId, now);
  const isRenewed = provider?.certificates.some((certificate) => !certificates.includes(certificate));
  return provider && isRenewed && provider.settings === settings ? provider : null;
}

/** Tenants do not share metadata. */
const fetchedKey = ({ tenant }: TenantContext<Process>, { metadata_url }: ProviderSettings) =>
  `${tenant.id} ${metadata_url}`;

async function refresh(
  context: TenantContext<Process>,
  settings: ProviderSettings,
  last: FetchedMetadata | undefined,
  time: number,
): Promise<FetchedMetadata> {
  const text = await fetchText(context, settings);
  const metadata = text === null ? null : parseOrLog(context, settings, text);
  const { fresh, usable, afterFailure } = metadataLifetimesMs;
  if (metadata) return { metadata, freshUntil: time + fresh, usableUntil: time + usable };
  const { metadata: former = null, usableUntil = time + afterFailure } = last ?? {};
  return { metadata: former, usableUntil, freshUntil: time + afterFailure };
}

async function fetchText(
  context: TenantContext<Process>,
  settings: ProviderSettings,
): Promise<Uint8Array | null> {
  const fetched = await fetchMetadata(context, settings);
  if (fetched.ok) return fetched.document;
  const line = { provider: settings.name, reason: fetched.reason };
  context.runtime.log.warn(line, "a SAML provider's metadata could not be fetched");
  return null;
}

/**
 * Fetches the metadata of a provider from its `metadata_url`, without a redirect.
 *
 * @returns the document with the time of its answer, if that says one; or why there is none, for the operator
 */
export async function fetchMetadata(
  { runtime, tenant: { config } }: TenantContext<Process>,
  { metadata_url }: Pick<ProviderSettings, "metadata_url">,
): Promise<{ ok: true; document: Uint8Array; date: string | null } | { ok: false; reason: string }> {
  const fail = (reason: string) => ({ ok: false, reason }) as const;
  const url = metadata_url === undefined ? null : new URL(metadata_url);
  if (!url || !(url.protocol === "https:" || (config.mode === "development" && isLoopback(url.hostname))))
    return fail("metadata_url is not an https URL");
  const seconds = Math.min(config.third_party.timeout, MAX_FETCH_SECONDS);
  try {
    const fetch = boundedFetch(providerNetwork(runtime), AbortSignal.timeout(seconds * 1000));
    const response = await fetch(url.href, {
      method: "GET",
      headers: { accept: "application/samlmetadata+xml, application/xml, text/xml" },
      redirect: "manual",
      body: undefined,
    });
    if (response.status !== 200) return fail(`it answered ${response.status}`);
    const document = new Uint8Array(await response.arrayBuffer());
    return { ok: true, document, date: response.headers.get("date") };
  } catch (error) {
    return fail(error instanceof ThirdPartyError ? error.reason : "it could not be reached");
  }
}

function parseOrLog(
  { runtime, tenant }: TenantContext<Process>,
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
