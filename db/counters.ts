import type { Statement } from "./part.ts";

/** Rows that count something, each made by its first count. */
export interface CountedRows {
  table: string;
  /** SQL of the tenant of the rows, a parameter. */
  tenant: string;
  /** Columns of the key beside the tenant, and all others. */
  key: readonly string[];
  values: readonly string[];
  /** A query of these columns, as new rows have them. */
  rows: string;
  /** SQL of the order in which rows are locked, with the name of a row. Default: by the key. */
  order?: (row: string) => string;
  /** What becomes of a row: `counter` is the one that there is, `excluded` the one that was to be new. */
  changes: Readonly<Record<string, string>>;
  /** SQL of whether a row that there is changes. */
  condition?: string;
  /** Columns to return of the rows that were made or changed. */
  returning?: readonly string[];
}

/** Returns the text that counts: `countedText`, or `addedText` in a distributed database. */
export type CountingText = (counted: CountedRows) => string;

const assignments = ({ changes }: CountedRows) =>
  Object.entries(changes)
    .map(([column, value]) => `${column} = ${value}`)
    .join(",\n");

const orderOf = ({ key, order }: CountedRows) =>
  order?.("given") ?? key.map((column) => `given.${column}`).join(", ");

const returned = ({ returning = [] }: CountedRows) =>
  returning.length > 0 ? `returning ${returning.map((column) => `counter.${column}`).join(", ")}` : "";

/** Returns the statement that makes rows or changes those that there are. */
export function countedText(counted: CountedRows): string {
  const { table, tenant, key, values, rows, condition } = counted;
  const columns = [...key, ...values].join(", ");
  return `insert into ${table} as counter (tenant_id, ${columns})
    select ${tenant}::uuid, ${columns} from (${rows}) given order by ${orderOf(counted)}
    on conflict (tenant_id, ${key.join(", ")}) do update set ${assignments(counted)}
    ${condition ? `where ${condition}` : ""} ${returned(counted)}`;
}

/** The same for rows that exist, as `emptyCounter` makes them: a distributed database runs it at their node alone. */
export function addedText(counted: CountedRows): string {
  const { table, tenant, key, rows, condition } = counted;
  const isRow = (row: string, other: string) =>
    [
      `${row}.tenant_id = ${tenant}::uuid`,
      ...key.map((column) => `${row}.${column} = ${other}.${column}`),
    ].join(" and ");
  return `update ${table} counter set ${assignments(counted)}
    from (
      select given.* from (${rows}) given join ${table} own on ${isRow("own", "given")}
      order by ${orderOf(counted)} for update of own) excluded
    where ${isRow("counter", "excluded")} ${condition ? `and (${condition})` : ""} ${returned(counted)}`;
}

/**
 * Returns the statement that makes a row which has counted nothing, unless there is one.
 *
 * @param columns what it has beside its key, as SQL
 */
export function emptyCounter(
  { table, key }: Pick<CountedRows, "table" | "key">,
  columns: Readonly<Record<string, string>>,
  tenantId: string,
  values: readonly unknown[],
): Statement {
  const parameters = key.map((_, index) => `$${index + 2}`).join(", ");
  return {
    name: `empty_${table}`,
    text: `insert into ${table} (tenant_id, ${[...key, ...Object.keys(columns)].join(", ")})
      values ($1, ${parameters}, ${Object.values(columns).join(", ")}) on conflict do nothing`,
    values: [tenantId, ...values],
  };
}
