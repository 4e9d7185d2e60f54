import { and, eq, inArray } from "drizzle-orm";
import { schema } from "#db/client";
import { providerName } from "../account/linked-identities.ts";
import type { Config } from "../config/schema.ts";
import type { ContextClass } from "../openid/authentication-context.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import { samlProviderId } from "../thirdparty/saml/attribute-mapping.ts";
import {
  enabledSamlProviders,
  settingsForAddress,
  settingsForEntityId,
} from "../thirdparty/saml/identity-providers.ts";
import { canEnterConsole } from "./console-entry.ts";
import { type Both, type Effect, effects, effectsOf } from "./effects.ts";
import { type ChangedFlows, findChangedFlows } from "./flows-under-way.ts";
import {
  type EnabledProviders,
  type FactGroup,
  factsOf,
  groupsByFacts,
  type ListedUser,
  type Reading,
  usersById,
  usersWithFacts,
} from "./users-by-facts.ts";

/** A change of the settings of a tenant. */
export interface ConfigChange {
  tenantId: string;
  /** Null if the settings in force are invalid: the tenant is not served. */
  former: Config | null;
  changed: Config;
}

/** Users whom a change has the same effect on, for the same reasons. */
export interface AffectedUsers {
  count: number;
  /** What has decided that, a sentence each. */
  reasons: string[];
  /** Ids of at most four of them. */
  examples: string[];
  /** The numbers of their facts, which `listAffected` takes. */
  keys: number[];
}

/** What a change of settings would do. */
export interface DryRun {
  /** Users who were judged; blocked ones are not. */
  users: number;
  /** How often the conditions were judged: once for users with equal facts. */
  judged: number;
  /** Of each effect the largest group first. */
  effects: Record<Effect, AffectedUsers[]>;
  flows: ChangedFlows[];
}

export interface DryRunOptions {
  /** Runs each statement that reads many users, such as when it is its turn. */
  inTurn?: <Result>(read: () => Promise<Result>) => Promise<Result>;
  /** Told of the number of users who were read, after each hundred thousand accounts. */
  onProgress?: (users: number) => void;
}

/**
 * Tells what a change of settings would do to users and to flows under way. Users with equal facts are judged once, by the
 * conditions that decide their sign-ins. A statement for each hundred thousand accounts counts them.
 */
export async function dryRun(
  db: Reading,
  change: ConfigChange,
  { inTurn = (read) => read(), onProgress = () => {} }: DryRunOptions = {},
): Promise<DryRun> {
  const { tenantId } = change;
  const providers = await inTurn(() => enabledProviders(db, change));
  const groups = new Map<number, FactGroup>();
  let users = 0;
  const parts = groupsByFacts(db, tenantId, providers);
  for (;;) {
    const { value, done } = await inTurn(() => parts.next());
    if (done) break;
    for (const group of value) {
      users += group.count;
      const known = groups.get(group.key);
      groups.set(group.key, known ? joined(known, group) : group);
    }
    onProgress(users);
  }
  const flows = await inTurn(() => findChangedFlows(db, tenantId, change));
  return { users, judged: groups.size, effects: affected([...groups.values()], change), flows };
}

const joined = (one: FactGroup, other: FactGroup): FactGroup => ({
  ...one,
  count: one.count + other.count,
  examples: [...new Set([...one.examples, ...other.examples])].slice(0, 2),
});

/** Judges each group, and joins those with the same effect for the same reasons. */
function affected(groups: FactGroup[], change: ConfigChange): DryRun["effects"] {
  const found = new Map<string, AffectedUsers & { effect: Effect }>();
  for (const { key, count, examples } of groups)
    for (const { effect, reasons } of judged(key, change)) {
      const name = JSON.stringify([effect, reasons]);
      const known = found.get(name) ?? { effect, count: 0, reasons, examples: [], keys: [] };
      known.count += count;
      known.keys.push(key);
      known.examples = [...known.examples, ...examples].slice(0, MAX_EXAMPLES);
      found.set(name, known);
    }
  const all = [...found.values()].toSorted((one, other) => other.count - one.count);
  return Object.fromEntries(
    effects.map((effect) => [
      effect,
      all.filter((one) => one.effect === effect).map(({ effect: _, ...group }) => group),
    ]),
  ) as DryRun["effects"];
}

const MAX_EXAMPLES = 4;

const judged = (key: number, { former, changed }: ConfigChange) =>
  effectsOf({ former: factsOf(key, "former"), changed: factsOf(key, "changed") }, { former, changed });

/**
 * Finds the providers that users of a tenant are linked to and a configuration enables.
 *
 * @param ids those of the users. Default: all
 */
async function enabledProviders(
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

/**
 * Lists the users of a group of a dry run of the same change.
 *
 * @param keys those of the group
 * @returns users in parts, in the order of their ids
 */
export async function* listAffected(
  db: Reading,
  change: ConfigChange,
  keys: readonly number[],
): AsyncGenerator<ListedUser[], void> {
  const providers = await enabledProviders(db, change);
  yield* usersWithFacts(db, change.tenantId, providers, keys);
}

/** Reads the names of some users of a tenant, by their ids. */
export async function namesOf(
  db: Reading,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, ListedUser>> {
  if (ids.length === 0) return new Map();
  const users = await usersById(db, tenantId, { former: [], changed: [] }, ids);
  return new Map(users.map(({ id, email, username, phone }) => [id, { id, email, username, phone }]));
}

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

/** Those among enabled providers that a configuration trusts for the second factor. */
function trustedProviders(providers: EnabledProviders, { former, changed }: Both<Config>): EnabledProviders {
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
