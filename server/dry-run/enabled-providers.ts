import { and, eq, inArray } from "drizzle-orm";
import { schema } from "#db/client";
import { providerName } from "../account/linked-identities.ts";
import type { Config } from "../config/schema.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import { samlProviderId } from "../thirdparty/saml/attribute-mapping.ts";
import { settingsForEntityId } from "../thirdparty/saml/identity-providers.ts";
import type { Both, ConfigChange } from "./effects.ts";
import type { EnabledProviders, Reading } from "./users-by-facts.ts";

/**
 * Finds the providers that users of a tenant are linked to and a configuration enables.
 *
 * @param ids those of the users. Default: all
 */
export async function enabledProviders(
  db: Reading,
  { tenantId, former, changed }: ConfigChange,
  ids?: readonly string[],
): Promise<EnabledProviders> {
  const { identities } = schema;
  const ofUsers = ids && inArray(identities.userId, [...ids]);
  const linked = await db
    .selectDistinct({ provider: identities.provider })
    .from(identities)
    .where(and(eq(identities.tenantId, tenantId), ofUsers));
  const enabledBy = (config: Config) =>
    linked.map(({ provider }) => provider).filter((provider) => providerName(config, provider) !== null);
  return { former: former ? enabledBy(former) : [], changed: enabledBy(changed) };
}

/** Those among enabled providers that a configuration trusts for the second factor. */
export function trustedProviders(
  providers: EnabledProviders,
  { former, changed }: Both<Config>,
): EnabledProviders {
  const trusts = (config: Config) => (provider: string) =>
    findProvider(config, provider)?.satisfiesMfa ?? samlTrusts(config, provider);
  return {
    former: providers.former.filter(trusts(former)),
    changed: providers.changed.filter(trusts(changed)),
  };
}

/** The entity id of a provider whose metadata is fetched may be known to the metadata alone. */
const samlTrusts = (config: Config, provider: string): boolean =>
  settingsForEntityId(config, provider.slice(samlProviderId("").length))?.satisfies_mfa ?? false;
