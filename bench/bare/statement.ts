import pg from "pg";

/** A statement that PostgreSQL prepares once on each connection, with the names of its parameters in their order. */
export interface Statement {
  name: string;
  text: string;
  parameters: readonly string[];
}

let statements = 0;

/** Numbers the parameters of a statement, which are named, as `:tenant`. */
export function prepared(named: string): Statement {
  const parameters: string[] = [];
  // Not the second colon of a cast.
  const text = named.replaceAll(/(?<!:):(\w+)/g, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  statements += 1;
  return { name: `bare_${statements}`, text, parameters };
}

/**
 * Runs a statement. `claim` need not wait for the disk, as a claim of Stile.
 *
 * @param values by the names of the parameters; others are ignored
 */
export type Query = <Row extends pg.QueryResultRow>(
  statement: Statement,
  values: Record<string, unknown>,
  pool?: "write" | "claim",
) => Promise<Row[]>;

/** Opens the server's pools, which have as many connections as those of Stile. */
export function openPools(connectionString: string): Query {
  const pools = {
    write: new pg.Pool({ connectionString, max: 10 }),
    claim: new pg.Pool({ connectionString, max: 10, options: "-c synchronous_commit=off" }),
  };
  return async ({ name, text, parameters }, values, pool = "write") => {
    const missing = parameters.find((parameter) => values[parameter] === undefined);
    if (missing) throw new Error(`no value of :${missing}`);
    return (await pools[pool].query({ name, text, values: parameters.map((one) => values[one]) })).rows;
  };
}
