import { and, eq, getViewSelectedFields, not, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { holds, reasonsOf } from "../conditions/condition.ts";
import type { Tenant } from "../config/tenant.ts";
import { identifierFacts, identifierKinds, identifiers } from "../identity/identifiers.ts";
import { noMethods } from "../methods/index.ts";
import type { MethodFact, MethodFacts } from "../methods/method.ts";
import { hasWayIn } from "../methods/ways-in.ts";
import { providerName } from "./linked-identities.ts";

/** Users of a tenant who cannot sign in for the same reasons. */
export interface LockedOut {
  count: number;
  /** What has decided that, a sentence each. */
  reasons: string[];
  /** Ids of one or two of them. */
  examples: string[];
}

const { userFacts, identities } = schema;
const columns = getViewSelectedFields(userFacts);

/**
 * Finds the users whom the configuration of a tenant does not let sign in, by the condition that decides sign-ins: users with the
 * same facts are judged once, so that the work does not grow with their number. Blocked users are left out.
 *
 * @param db reads all users of the tenant in one statement
 * @returns the number of users, and those that are locked out, the largest group first
 */
export async function findLockedOut(
  db: ReadOnly,
  { id, config }: Tenant,
): Promise<{ users: number; lockedOut: LockedOut[] }> {
  const linked = await db
    .selectDistinct({ provider: identities.provider })
    .from(identities)
    .where(eq(identities.tenantId, id));
  const enabled = linked.filter(({ provider }) => providerName(config, provider) !== null);
  const each = db
    .select({
      userId: userFacts.userId,
      facts: presentFacts(enabled.map(({ provider }) => provider)).as("facts"),
    })
    .from(userFacts)
    .where(and(eq(userFacts.tenantId, id), not(userFacts.blocked)))
    .as("each");
  const rows = await db
    .select({
      facts: each.facts,
      count: sql<number>`count(*)::int`,
      // Not a list: the rows of a group would be sorted for it.
      first: sql<string>`min(${each.userId}::text)`,
      last: sql<string>`max(${each.userId}::text)`,
    })
    .from(each)
    .groupBy(each.facts);
  const judged = rows.map(({ facts, ...group }) => ({
    ...group,
    subject: { facts: factsOf(facts), config },
  }));
  return {
    users: judged.reduce((sum, { count }) => sum + count, 0),
    lockedOut: judged
      .filter(({ subject }) => !holds(hasWayIn, subject))
      .map(({ count, first, last, subject }) => ({
        count,
        examples: [...new Set([first, last])],
        reasons: reasonsOf(hasWayIn, subject).map(({ sentence }) => sentence),
      }))
      .toSorted((one, other) => other.count - one.count),
  };
}

/** Whether users have each of `MethodFacts`. */
type Present = Record<keyof MethodFacts, boolean>;

/** A JSON object that says which facts users have. An identity counts where its provider is enabled. */
function presentFacts(providers: string[]): SQL<Present> {
  const { tenantId, userId, provider } = identities;
  const isLinked = sql`exists (select from ${identities} where ${tenantId} = ${userFacts.tenantId}
    and ${userId} = ${userFacts.userId} and ${provider} = any (${sql.param(providers)}::text[]))`;
  const methods = (Object.keys(noMethods) as MethodFact[]).map((name): [string, SQL] => [
    name,
    name === "hasIdentity" ? isLinked : sql`${columns[name]}`,
  ]);
  const named = identifiers.flatMap(({ kind, verified }): [string, SQL][] => [
    [kind, sql`${columns[kind]} is not null`],
    ...(verified === null ? [] : [[verified, sql`${columns[verified]}`] as [string, SQL]]),
  ]);
  const members = [...methods, ...named].map(([name, value]) => sql`${sql.param(name)}::text, ${value}`);
  return sql<Present>`jsonb_build_object(${sql.join(members, sql`, `)})`;
}

/** The facts of users of whom it is known which they have: conditions compare no identifier with another one. */
function factsOf(present: Present): MethodFacts {
  const names = identifierKinds.map((kind) => [kind, present[kind] ? "" : undefined]);
  return { ...noMethods, ...present, ...identifierFacts({ ...present, ...Object.fromEntries(names) }) };
}
