import { type SQL, sql } from "drizzle-orm";
import type { Transaction } from "./client.ts";
import { isDistributedTransaction } from "./distribution.ts";
import { asConflict } from "./errors.ts";

/**
 * A part of a statement: a change or a look-up as common table expressions, so that several run as one statement. All
 * parts of a statement see the rows as they were before it, so two of them must not change the same row.
 */
export interface Part {
  /** A word that identifies the text, because the text is prepared under it. */
  name: string;
  /** Named expressions, separated by commas, with parameters $1 to $n; empty for a part that only refuses. */
  text: string;
  /** `rows`: the only parameter, a JSON array; equal parts of one statement add theirs to it. */
  values: readonly unknown[] | { rows: readonly object[] };
  /** SQL of the reason to roll the statement back, a `ConflictReason`; null if there is none. */
  refuses?: string;
  /** SQL of a value to return. */
  returns?: string;
  /**
   * SQL of columns to return, and of the table expression that has them. It begins a statement, which returns nothing
   * of its parts where that expression has no row.
   */
  selects?: { columns: string; from: string };
  /** Whether equal parts of one statement need to run once only. */
  isIdempotent?: boolean;
  /** Whether the account of the step must be locked before it. */
  ofAccount?: boolean;
  /** Whether it begins a statement, because it must see what the parts before it have written or locked. */
  begins?: boolean;
  /** For a distributed database. Default: as it is. */
  distributed?: DistributedForm;
}

/**
 * The form of a part for a distributed database: no `insert` of it reads what another expression returns. Citus would make a
 * further trip for it, and send what it reads to all nodes, of which none may be down then.
 */
export interface DistributedForm {
  text: string;
  /** Statements of the same transaction, before the one that the part belongs to. */
  before?: readonly Statement[];
  /** The same after it. The last one returns what the part returns. */
  after?: readonly Statement[];
}

/** A statement to run, prepared under its name if it has one. */
export interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

/** PostgreSQL truncates longer names. */
const MAX_NAME_LENGTH = 63;

/** Texts by name, with those of the parts: composing them again for each step would cost more than sending them. */
type Composed = Map<string, { text: string; parts: string[] }>;

const composed: Composed = new Map();

/** Those for a distributed database: the same names, with which nothing else is prepared there. */
const composedAtNode: Composed = new Map();

/**
 * Composes parts to as few statements as they allow, in their order.
 *
 * @param isDistributed whether they are for a distributed database
 */
export function statementsOf(parts: readonly Part[], isDistributed = false): Statement[] {
  const groups: Part[][] = [];
  for (const part of parts) {
    const group = groups.at(-1);
    const equal = group?.findIndex(({ name }) => name === part.name) ?? -1;
    const other = group?.[equal];
    if (group && other && "rows" in other.values && "rows" in part.values)
      group[equal] = { ...other, values: { rows: [...other.values.rows, ...part.values.rows] } };
    else if (other?.isIdempotent) continue;
    else if (group && !other && !beginsStatement(part) && nameOf([...group, part]).length <= MAX_NAME_LENGTH)
      group.push(part);
    else groups.push([part]);
  }
  return isDistributed
    ? groups.flatMap(distributedStatementsOf)
    : groups.map((group) => statementOf(group, composed));
}

function distributedStatementsOf(parts: readonly Part[]): Statement[] {
  const forms = parts.map(({ returns, distributed, ...part }): Part => {
    const text = distributed?.text ?? part.text;
    return returns === undefined || distributed?.after ? { ...part, text } : { ...part, text, returns };
  });
  return [
    ...parts.flatMap(({ distributed }) => distributed?.before ?? []),
    statementOf(forms, composedAtNode),
    ...parts.flatMap(({ distributed }) => distributed?.after ?? []),
  ];
}

const beginsStatement = ({ begins, selects }: Part) => begins === true || selects !== undefined;

function nameOf(parts: readonly Part[]): string {
  return parts.map(({ name }) => name).join("+");
}

function statementOf(parts: readonly Part[], texts: Composed): Statement {
  const name = nameOf(parts);
  if (name.length > MAX_NAME_LENGTH) throw new RangeError(`the name of a statement is too long: ${name}`);
  const values = parts.map(valuesOf);
  const known = texts.get(name);
  if (known) {
    const other = parts.find(({ text }, index) => text !== known.parts[index]);
    if (other) throw new Error(`two parts have the name ${other.name} and different texts`);
    return { name, text: known.text, values: values.flat() };
  }
  const text = textOf(parts, values);
  texts.set(name, { text, parts: parts.map((part) => part.text) });
  return { name, text, values: values.flat() };
}

function valuesOf({ values }: Part): readonly unknown[] {
  return "rows" in values ? [JSON.stringify(values.rows)] : values;
}

function textOf(parts: readonly Part[], values: readonly (readonly unknown[])[]): string {
  let offset = 0;
  const expressions: string[] = [];
  const results: string[] = [];
  let from = "";
  for (const [index, { name, text, refuses, returns, selects }] of parts.entries()) {
    const first = offset;
    const renumbered = (sql: string) =>
      sql.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + first}`);
    if (text !== "") expressions.push(renumbered(text));
    if (selects) {
      results.push(renumbered(selects.columns));
      from = `\nfrom ${renumbered(selects.from)}`;
    }
    if (refuses) results.push(`refuse(${renumbered(refuses)})`);
    if (returns) results.push(`${renumbered(returns)} as ${name}`);
    offset += values[index]?.length ?? 0;
  }
  return `${expressions.length > 0 ? `with ${expressions.join(",\n")}\n` : ""}select ${results.join(", ") || "1"}${from}`;
}

/**
 * Runs parts in a transaction.
 *
 * @returns the values that parts return, by their names
 * @throws ConflictError if one refuses
 */
export async function executeParts<Returned extends object>(
  tx: Transaction,
  parts: readonly Part[],
): Promise<Partial<Returned>> {
  const returned = {};
  for (const { text, values } of statementsOf(parts, await isDistributedTransaction(tx))) {
    const { rows } = await tx.execute(bound(text, values)).catch((error: unknown) => {
      throw asConflict(error);
    });
    Object.assign(returned, rows[0]);
  }
  return returned;
}

/** Runs a part alone, in a transaction, as `executeParts` does. */
export async function executePart(tx: Transaction, part: Part): Promise<void> {
  await executeParts(tx, [part]);
}

/** Binds the values of a text with parameters $1 to $n, to run it in a Drizzle transaction. */
function bound(text: string, values: readonly unknown[]): SQL {
  const pieces = text.split(/\$(\d+)/);
  return sql.join(
    pieces.map((piece, index) => (index % 2 === 0 ? sql.raw(piece) : sql.param(values[Number(piece) - 1]))),
  );
}
