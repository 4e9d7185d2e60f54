/** Statements of a migration that run in one transaction. */
export type MigrationUnit = readonly string[];

/**
 * Splits a migration into units, each of which takes at most one lock on a table or view in use that conflicts with the
 * statements of a login. A transaction that holds one such lock and waits for another would close a circle with a login
 * that waits for the first: one of both ends with a deadlock.
 *
 * What is dropped and made again stays one unit, so that it is never missing. Rows are changed under a lock of their
 * table, because the order of a login's rows is another one.
 *
 * @param statements of one migration, as drizzle-kit separates them
 */
export function unitsOf(statements: readonly string[]): MigrationUnit[] {
  const units: string[][] = [];
  let rest = [...statements];
  while (rest.length > 0) {
    const [first = "", ...others] = rest;
    const view = /^DROP VIEW (\S+?);?$/.exec(withoutComments(first))?.[1];
    const remade = view
      ? others.findIndex((other) => withoutComments(other).startsWith(`CREATE VIEW ${view} `))
      : -1;
    if (remade >= 0) {
      const between = others.slice(0, remade);
      const create = others[remade] as string;
      if (between.every(isIndependent)) units.push(...between.map(unitOf), [first, create]);
      else units.push([first, ...between, create]);
      rest = others.slice(remade + 1);
      continue;
    }
    if (isReplacedConstraint(first, others[0])) {
      units.push([first, others[0] as string]);
      rest = others.slice(1);
      continue;
    }
    units.push(unitOf(first));
    rest = others;
  }
  return units;
}

function unitOf(statement: string): string[] {
  const changed = /^(?:UPDATE|DELETE FROM) ("\w+")/.exec(withoutComments(statement))?.[1];
  return changed ? [`LOCK TABLE ${changed} IN SHARE ROW EXCLUSIVE MODE`, statement] : [statement];
}

/** Whether a statement between the end of a view and its new form can run before both. */
function isIndependent(statement: string): boolean {
  return /^(?:ALTER TABLE \S+ ADD (?:COLUMN|CONSTRAINT)|CREATE (?:UNIQUE )?INDEX|CREATE TABLE|CREATE VIEW)/.test(
    withoutComments(statement),
  );
}

function isReplacedConstraint(statement: string, next = ""): boolean {
  const dropped = /^ALTER TABLE (\S+) DROP CONSTRAINT/.exec(withoutComments(statement))?.[1];
  return dropped !== undefined && withoutComments(next).startsWith(`ALTER TABLE ${dropped} ADD CONSTRAINT`);
}

/** A statement without comments before it. */
export function withoutComments(statement: string): string {
  return statement.replace(/^(?:\s*--[^\n]*\n)*\s*/, "").trimEnd();
}
