import { type ConfigChange, type Effect, effects, effectsOf } from "./effects.ts";
import { enabledProviders } from "./enabled-providers.ts";
import { type ChangedFlows, findChangedFlows } from "./flows-under-way.ts";
import {
  type FactGroup,
  factsOf,
  groupsByFacts,
  type ListedUser,
  type Reading,
  usersById,
  usersWithFacts,
} from "./users-by-facts.ts";

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
