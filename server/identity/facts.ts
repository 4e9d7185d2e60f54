import {
  and,
  type Column,
  eq,
  getTableColumns,
  getTableName,
  getViewSelectedFields,
  type SQL,
  sql,
} from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { Part } from "#db/part";
import { prepared } from "#db/prepared";
import { userFactsText } from "#db/schema/users";
import { withValues } from "#db/with-values";
import type { IdentifierTable } from "./identifier.ts";
import { type IdentifierKind, identifiers } from "./identifiers.ts";

const { userFacts } = schema;

const { tenantId: _, ...facts } = getViewSelectedFields(userFacts);

/** Facts about a user that flows decide by: a row of the view `user_facts`. */
export type UserFacts = Omit<typeof userFacts.$inferSelect, "tenantId">;

/** The facts of the users of the tenant `tenantId`, under the name of the view. */
const factsOfTenant = sql`${withValues(userFactsText("{tenantId}"), { tenantId: sql.placeholder("tenantId") })} user_facts`;

/** Its columns. Drizzle takes those of a view only if the query names it. */
const selected = Object.fromEntries(
  Object.entries(facts).map(([name, column]) => [name, sql.raw(`user_facts.${column.name}`).mapWith(column)]),
) as unknown as { [Name in keyof UserFacts]: SQL<UserFacts[Name]> };

/** The look-ups of an account by an identifier, by its kind. */
const byIdentifier = Object.fromEntries(
  identifiers.map(({ kind, table, column }) => {
    const { tenantId, userId, ...columns } = getTableColumns<IdentifierTable>(schema[table]);
    const value = (columns as Record<string, Column>)[column];
    if (!value) throw new Error(`${table} has no column ${column}`);
    const look = prepared(`facts_by_${kind}`, (db) =>
      db
        .select(selected)
        .from(
          sql`${factsOfTenant} join ${schema[table]} i on i.${sql.identifier(userId.name)} = ${selected.userId}`,
        )
        .where(
          and(
            eq(sql`i.${sql.identifier(tenantId.name)}`, sql.placeholder("tenantId")),
            eq(sql`i.${sql.identifier(value.name)}`, sql.placeholder("value")),
          ),
        ),
    );
    return [kind, look];
  }),
);

const byId = prepared("facts_by_id", (db) =>
  db
    .select(selected)
    .from(factsOfTenant)
    .where(eq(selected.userId, sql.placeholder("userId"))),
);

/** Facts as `factsJson` gives them. */
export type FactsJson = Omit<UserFacts, "passkeyDeclinedAt"> & { passkeyDeclinedAt: string | null };

/** SQL of a JSON object with the facts of a row of `user_facts`, for statements that read more. @param row its alias */
export function factsJson(row: string): string {
  const members = Object.entries(facts).map(([name, column]) => `'${name}', ${row}.${column.name}`);
  return `json_build_object(${members.join(", ")})`;
}

/** Converts what `factsJson` returns. */
export function factsOfJson({ passkeyDeclinedAt, ...json }: FactsJson): UserFacts {
  return { ...json, passkeyDeclinedAt: passkeyDeclinedAt === null ? null : new Date(passkeyDeclinedAt) };
}

/** SQL of the columns with the facts of a row of `user_facts`, for statements without a query builder. @param row its alias */
export function factColumns(row: string): string {
  return Object.values(facts)
    .map((column) => `${row}.${column.name}`)
    .join(", ");
}

/** The facts in a row with `factColumns`; null if the statement found none. */
export function factsOfColumns(row: Record<string, unknown>): UserFacts | null {
  if (!row[facts.userId.name]) return null;
  return Object.fromEntries(
    Object.entries(facts).map(([name, column]) => [name, row[column.name]]),
  ) as unknown as UserFacts;
}

/** SQL of the facts of the account that has an identifier, with the parameters tenant and value, by its kind. */
const textByIdentifier = Object.fromEntries(
  identifiers.map(({ kind, table, column }) => {
    const { tenantId, userId, ...columns } = getTableColumns<IdentifierTable>(schema[table]);
    const value = (columns as Record<string, Column>)[column];
    const name = getTableName(schema[table]);
    const text = `(
      select ${factsJson("f")} from ${name} i
      join ${userFactsText("$1")} f on f.user_id = i.${userId.name}
      where i.${tenantId.name} = $1 and i.${value?.name} = $2)`;
    return [kind, text];
  }),
) as Record<IdentifierKind, string>;

/**
 * The part of a statement that finds the account that has an identifier; `factsOfJson` converts what it returns.
 *
 * @param value in canonical form
 */
export function factsPart(tenantId: string, kind: IdentifierKind, value: string): Part {
  return { name: `facts_of_${kind}`, text: "", values: [tenantId, value], returns: textByIdentifier[kind] };
}

/**
 * Finds the account that has an identifier; one with several addresses by any of them.
 *
 * @param value in canonical form
 */
export async function factsByIdentifier(
  db: ReadOnly,
  tenantId: string,
  kind: IdentifierKind,
  value: string,
): Promise<UserFacts | null> {
  const [user] = (await byIdentifier[kind]?.(db).execute({ tenantId, value })) ?? [];
  return user ?? null;
}

export async function factsById(db: ReadOnly, tenantId: string, userId: string): Promise<UserFacts | null> {
  const [user] = await byId(db).execute({ tenantId, userId });
  return user ?? null;
}
