import { and, eq, inArray } from "drizzle-orm";
import { schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { ContextClass } from "../openid/authentication-context.ts";
import { enabledSamlProviders, settingsForAddress } from "../thirdparty/saml/identity-providers.ts";
import { canEnterConsole } from "./console-entry.ts";
import type { ConfigChange } from "./effects.ts";
import { enabledProviders, trustedProviders } from "./enabled-providers.ts";
import { factsOf, type Reading, usersById } from "./users-by-facts.ts";

/**
 * Finds those of some users who could sign in before a change and no longer could.
 *
 * @param classes what their sign-ins have to meet, one of which suffices, as the console requires of its accounts. Default: any
 *   sign-in
 */
export async function lockedOutAmong(
  db: Reading,
  change: ConfigChange,
  ids: readonly string[],
  classes: readonly ContextClass[] = ["urn:stile:sign-in"],
): Promise<string[]> {
  const { tenantId, former, changed } = change;
  if (former === null) return [];
  const providers = await enabledProviders(db, change, ids);
  const users = await usersById(db, tenantId, providers, ids);
  const verifying = classes.includes("urn:stile:mfa")
    ? await usersById(db, tenantId, trustedProviders(providers, { former, changed }), ids)
    : [];
  const addresses = await addressesOf(db, change, ids);
  return users
    .filter(({ id, key }) => {
      const trusted = verifying.find((user) => user.id === id)?.key ?? 0;
      const enters = (side: "former" | "changed", config: Config) => {
        const verifies = factsOf(trusted, side).hasIdentity;
        const mailLeadsAway = addresses.has(id) && leadAway(config, addresses.get(id) ?? []);
        return canEnterConsole({ facts: factsOf(key, side), verifies, mailLeadsAway }, config, classes);
      };
      return enters("former", former) && !enters("changed", changed);
    })
    .map(({ id }) => id);
}

/** The addresses of some users, by their ids. Nothing is read where none could lead to a SAML provider. */
async function addressesOf(
  db: Reading,
  { tenantId, former, changed }: ConfigChange,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const leading = [former, changed].some(
    (config) => config !== null && enabledSamlProviders(config).length > 0,
  );
  if (!leading) return new Map();
  const { emails } = schema;
  const rows = await db
    .select({ userId: emails.userId, address: emails.address })
    .from(emails)
    .where(and(eq(emails.tenantId, tenantId), inArray(emails.userId, [...ids])));
  const found = new Map<string, string[]>();
  for (const { userId, address } of rows) found.set(userId, [...(found.get(userId) ?? []), address]);
  return found;
}

const leadAway = (config: Config, addresses: readonly string[]) =>
  addresses.every((address) => settingsForAddress(config, address) !== null);
