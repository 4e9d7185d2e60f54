import type { z } from "zod";
import type { TableName } from "#db/tables";
import type { Tenant } from "../config/tenant.ts";
import type { Vault } from "../keys/vault.ts";
import type { Platform } from "../lib/platform.ts";
import type { AcceptableHash } from "./password/acceptable-hash.ts";

/** How the credentials of a method leave with their user and enter again: `stile users export` and `stile users import`. */
export interface Moving {
  readonly table: ExportedTable;
  /** Members of the record of a user. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
  /** SQL of each member, for the user `u`. An export without secrets leaves out those of tables that are secret. */
  readonly exported: Readonly<Record<string, string>>;
  /** Makes the member from what its SQL returns, where that is sealed. */
  readonly unsealed?: (stored: never, of: { vault: Vault; tenantId: string; userId: string }) => unknown;
  /** The columns that are written from JSON, with their types. Those of the tenant, the user and the times are in every row. */
  readonly columns: Readonly<Record<string, string>>;
  /** What no two users of a tenant have in common: its columns, and the reason to refuse a user. */
  readonly key?: { readonly kind: string; readonly columns: readonly string[]; readonly taken: string };
  /** Makes the rows of a user from its record. */
  readonly rows: (record: never, importing: Importing) => MovedRows;
  /**
   * Removes from the record of another system what would refuse a user who can sign in without it.
   *
   * @returns what was removed, for the report; null if nothing was
   */
  readonly removeInvalid?: (record: never) => string | null;
}

export type ExportedTable = TableName<{ exported: { as: readonly string[] } }>;

/** What users are imported with. */
export interface Importing {
  readonly tenant: Tenant;
  readonly vault: Vault;
  readonly platform: Platform;
  readonly acceptHash: (hash: string) => AcceptableHash;
  readonly userId: string;
  /** Whether the record names the id of the user. */
  readonly keepsId: boolean;
  /** When the account was created, for rows that state no time; null for the time of the import. */
  readonly createdAt: string | null;
}

export type MovedRows =
  /** Rows as JSON that PostgreSQL converts. `omitted`: what could not be carried over, for the report. */
  | { ok: true; rows: readonly Record<string, unknown>[]; omitted?: string }
  /** `reason` contains no data of the record. */
  | { ok: false; reason: string };

type Shape = Readonly<Record<string, z.ZodType>>;
type Output<Members extends Shape> = z.output<z.ZodObject<Members>>;
type Input<Members extends Shape> = z.input<z.ZodObject<Members>>;

/** Declares how credentials move; the functions take the members of the shape. */
export function movingAs<Table extends ExportedTable, const Members extends Shape, Stored = never>(
  moving: Omit<Moving, "table" | "shape" | "exported" | "unsealed" | "rows" | "removeInvalid"> & {
    table: Table;
    shape: Members;
    exported: Record<keyof Members, string>;
    unsealed?: (stored: Stored, of: { vault: Vault; tenantId: string; userId: string }) => unknown;
    rows: (record: Output<Members>, importing: Importing) => MovedRows;
    removeInvalid?: (record: Input<Members>) => string | null;
  },
) {
  return moving;
}

/**
 * Stands for the parameter of the tenant in the SQL of exports. Each table is filtered by it alone: a node of a distributed
 * database takes no statement that compares the tenants of two tables.
 */
export const TENANT = ":tenant";

/** SQL of a value of the only row of the user `u` in a table. The row is `o`. */
export const exportedValue = (table: ExportedTable, value: string) =>
  `(select ${value} from ${table} o where o.tenant_id = ${TENANT} and o.user_id = u.id)`;

/** SQL of the rows of the user `u` in a table, as a JSON array in one line. The row is `o`. */
export const exportedRows = (table: ExportedTable, members: string, order: string) =>
  `array_to_json(array(
    select row_to_json(m) from ${table} o cross join lateral (select ${members}) m
    where o.tenant_id = ${TENANT} and o.user_id = u.id order by ${order}))`;

/** SQL of bytes as base64url without padding. PostgreSQL breaks the lines of base64. */
export const exportedBytes = (column: string) => `translate(encode(${column}, 'base64'), E'+/=\\n', '-_')`;

/** Bytes as PostgreSQL reads them in a text. */
export const hexOf = (bytes: Buffer) => `\\x${bytes.toString("hex")}`;
