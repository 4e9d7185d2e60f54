import type { BuildColumns, BuildExtraConfigColumns, SQL } from "drizzle-orm";
import {
  type PgColumnBuilderBase,
  type PgTableExtraConfigValue,
  type PgTableWithColumns,
  pgTable,
} from "drizzle-orm/pg-core";

/** Settings that say for how many seconds rows are kept. */
export type RetentionSetting = "audit_log.retention" | "funnel.retention" | "webhooks.retention";

interface ExpiryOf<Column extends string> {
  /** A further condition, that of a partial index or one that few rows fail. */
  and?: SQL;
  /** Columns that come before `by` in the index. Rows are looked for under each of their values. */
  under?: readonly Column[];
  /** Which rows have this rule, for the reference: "if …". Default: all. */
  only?: string;
}

/** When rows expire. The purge finds them by the index of `by`. */
export type Expiry<Column extends string> = ExpiryOf<Column> &
  (
    | {
        by: Column;
        /** How long after `by`; default: at that time. */
        after?: `${number} ${"hours" | "days"}` | RetentionSetting;
      }
    | {
        /** A column that is no time, or the expression of an index. */
        by: Column | SQL;
        /** Rows with a lower value of `by` have expired. */
        before: SQL;
        /** When that is, for the reference. */
        when: string;
      }
  );

/** Columns that are erased before their row is deleted. Their new values must end the condition. */
export type Erasure<Column extends string> = Expiry<Column> & {
  columns: { readonly [Name in Column]?: SQL | null };
};

/** A column whose values are encrypted under a key of `SECRET_KEYS`. */
export interface SealedColumnRule<Column extends string> {
  kind: "sealed";
  /** The kind of the values, for messages to the operator. */
  holds: string;
  /** What the vault binds a value to. `{column}` stands for a value of the row, see `sealContext`. */
  context: string;
  /** A column that repeats the id of the sealing key, in hexadecimal. */
  sealedBy?: Column;
  /** What becomes of values under a former key: moved by `secrets reseal`, or gone within a day. */
  after: "reseal" | "expiry";
}

/**
 * The rule of a sealed column.
 *
 * @param after `reseal` for what is stored for long
 */
export const sealed = <const Context extends string>(
  holds: string,
  context: Context,
  after: "reseal" | "expiry" = "reseal",
) => ({ kind: "sealed" as const, holds, context, after });

/** A column of digests that are keyed by a key of `SECRET_KEYS`. */
export interface DigestColumnRule<Column extends string> {
  kind: "digest";
  /** As of a sealed column. */
  holds: string;
  /** The column with the id of the key. */
  keyColumn: Column;
  /** What becomes of values under a former key: gone within a day, or replaced by their users. */
  after: "expiry" | "replacement";
}

/** When rows end. */
type End<Column extends string> =
  | {
      /** Which rows the purge deletes. */
      purge: Expiry<Column>;
      /** When else rows end, for the reference: "when …". */
      ends?: string;
    }
  | { ends: string; purge?: never };

interface EveryTable<Column extends string> {
  /** Which columns the purge erases. */
  erase?: Erasure<Column>;
  /** Sealed columns, and those with keyed digests. `stile secrets status` counts their values. */
  keyed?: { readonly [Name in Column]?: SealedColumnRule<Column> | DigestColumnRule<Column> };
  /**
   * In a distributed database the coordinator has the rows, although they have a tenant: statements look for them without it.
   * Default: rows with a tenant are where that is.
   */
  atCoordinator?: true;
  /** False if the number of rows does not grow with users or sign-ins. Tests run every statement on many of the others. */
  grows?: false;
}

interface Remains {
  /** What is left of a deleted account, for the reference. Default: nothing is stored of accounts. */
  ofDeletedAccounts?: string;
}

interface NotExported {
  /** Why no export has the rows. */
  because: string;
}

interface DeploymentTable<Column extends string> extends EveryTable<Column>, Remains {
  owner: "deployment";
}

interface TenantTable<Column extends string> extends EveryTable<Column>, Remains {
  owner: "tenant";
  exported: NotExported;
}

interface AccountTable<Column extends string> extends EveryTable<Column> {
  owner: "account";
  exported:
    | {
        /** Members of the record of a user. */
        as: readonly [string, ...string[]];
        /** `stile users export --without-secrets` leaves them out. */
        isSecret?: true;
      }
    | NotExported;
  /**
   * Whether rows end before the account does (`server/account/access-revocation.ts`). `access`: whenever its access is
   * revoked; `event`: likewise, with an event for each row; `credential`: when a mailed code verifies an address of the
   * account for the first time.
   */
  revoked?: "access" | "event" | "credential";
}

/** What becomes of the rows of a table. Columns have their names of the schema. */
export type TableRules<Column extends string = string> = End<Column> &
  (DeploymentTable<Column> | TenantTable<Column> | AccountTable<Column>);

const rules = Symbol("rules");

/** A table that says what becomes of its rows. */
export interface WithRules<Rules> {
  readonly [rules]: Rules;
}

/**
 * Declares a table.
 *
 * @param ownRules what becomes of its rows; purge, resealing, deletions, the growth of tests and
 *   `docs/reference/tables.md` derive from it
 */
export function declareTable<
  Name extends string,
  Columns extends Record<string, PgColumnBuilderBase>,
  const Rules extends TableRules<Extract<keyof Columns, string>>,
>(
  name: Name,
  columns: Columns,
  ownRules: Rules,
  constraints: (self: BuildExtraConfigColumns<Name, Columns, "pg">) => PgTableExtraConfigValue[] = () => [],
): PgTableWithColumns<{
  name: Name;
  schema: undefined;
  columns: BuildColumns<Name, Columns, "pg">;
  dialect: "pg";
}> &
  WithRules<Rules> {
  return Object.assign(pgTable(name, columns, constraints), { [rules]: ownRules });
}

/** Returns what becomes of the rows of a table. */
export function rulesOf<Rules>(of: WithRules<Rules>): Rules {
  return of[rules];
}

/** The columns in the context of a sealed column. */
type Parts<Context> = Context extends `${string}{${infer Part}}${infer Rest}` ? Part | Parts<Rest> : never;

const part = /\{(\w+)\}/g;

/** Returns the columns that a context names. */
export const partsOf = (context: string): string[] =>
  [...context.matchAll(part)].map(([, column = ""]) => column);

/** Returns a context with the values of a row in place of its columns. */
export const filledContext = (context: string, value: (column: string) => string): string =>
  context.replace(part, (_, column: string) => value(column));

/**
 * Returns the context that a value of a sealed column is bound to.
 *
 * @param values those of the row that the context names, bytes in hexadecimal
 */
export function sealContext<
  Column extends string,
  const Context extends string,
  Keyed extends { readonly [Name in Column]: { context: Context } },
>(
  of: WithRules<{ keyed: Keyed }>,
  column: Column,
  values: Readonly<Record<Parts<Keyed[Column]["context"]>, string>>,
): string {
  return filledContext(
    of[rules].keyed[column].context,
    (part) => (values as Record<string, string>)[part] ?? "",
  );
}
