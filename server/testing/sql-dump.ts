import type pg from "pg";

/**
 * Writes a database as SQL that makes it anew in an empty one: schemas, types, functions, tables with their rows, and then
 * constraints, indexes, views and triggers. Reads the catalog, because the embedded PostgreSQL comes without pg_dump. Knows the kinds
 * of objects that this service and pg-boss have: a dump of the restored database must be the same text.
 *
 * @returns one statement a line, except those that hold lines of their own
 */
export async function dumpDatabase(client: pg.Client): Promise<string> {
  const lines = async (text: string) =>
    (await client.query<{ line: string }>(text)).rows.map(({ line }) => line);
  const schema: string[][] = [];
  for (const definition of definitions) schema.push(await lines(definition));
  const rows: string[] = [];
  for (const table of await tablesOf(client)) rows.push(...(await insertsOf(client, table)));
  const [before, after] = [schema.slice(0, FIRST_AFTER_ROWS), schema.slice(FIRST_AFTER_ROWS)];
  return [...preamble, ...before.flat(), ...rows, ...after.flat(), ""].join("\n");
}

/** A table with rows of its own, its columns in order. */
export interface DumpedTable {
  /** Quoted where needed, with its schema. */
  name: string;
  /** Those that are not generated. */
  columns: string[];
}

/** Lists the tables that hold rows: those of the service, of its job queue and of its migrations. */
export async function tablesOf(client: pg.Client): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable>(`
    select ${NAME} as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind = 'r' and ${OURS}
    group by c.oid, n.nspname, c.relname order by 1`);
  return rows;
}

/** Without these, names and bodies in what follows could not be resolved before all is there. */
const preamble = ["set client_min_messages = warning;", "set check_function_bodies = off;"];

const OURS = "n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_toast'";
const NAME = "format('%I.%I', n.nspname, c.relname)";
const RELATIONS = "pg_class c join pg_namespace n on n.oid = c.relnamespace";

/** Of a table: what stands in parentheses, and how it is partitioned. */
const COLUMNS = `(
  select string_agg(format('%I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
      when a.attidentity = 'a' then ' generated always as identity'
      else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end,
    case when a.attnotnull then ' not null' else '' end), ', ' order by a.attnum)
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)`;

/** Queries of statements, in the order in which they can be run. The first of them stand before the rows. */
const definitions = [
  `select format('create schema %I;', n.nspname) as line from pg_namespace n
   where ${OURS} and n.nspname <> 'public' order by 1`,
  `select format('create type %I.%I as enum (%s);', n.nspname, t.typname,
     (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)) as line
   from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype = 'e' and ${OURS} order by 1`,
  `select format('create sequence %s as %s;', ${NAME}, format_type(s.seqtypid, null)) as line
   from ${RELATIONS} join pg_sequence s on s.seqrelid = c.oid where ${OURS} and not exists (
     select from pg_depend own where own.classid = 'pg_class'::regclass and own.objid = c.oid and own.deptype = 'i') order by 1`,
  `select pg_get_functiondef(p.oid) || ';' as line from pg_proc p join pg_namespace n on n.oid = p.pronamespace
   where ${OURS} order by 1`,
  `select format('create table %s (%s)%s;', ${NAME}, ${COLUMNS}, coalesce(' partition by ' || pg_get_partkeydef(c.oid), '')) as line
   from ${RELATIONS} where c.relkind in ('r', 'p') and ${OURS} order by c.relkind, 1`,
  `select format('alter table %s attach partition %s %s;', i.inhparent::regclass, ${NAME}, pg_get_expr(c.relpartbound, c.oid)) as line
   from ${RELATIONS} join pg_inherits i on i.inhrelid = c.oid where c.relispartition and c.relkind = 'r' and ${OURS} order by 1`,
  // After the rows.
  `select format('select setval(%L, %s);', ${NAME}, coalesce(pg_sequence_last_value(c.oid), 1)) as line
   from ${RELATIONS} where c.relkind = 'S' and ${OURS} order by 1`,
  `select format('alter table %s add constraint %I %s;', ${NAME}, o.conname, pg_get_constraintdef(o.oid)) as line
   from ${RELATIONS} join pg_constraint o on o.conrelid = c.oid
   where o.contype in ('p', 'u', 'c', 'f') and o.conislocal and ${OURS} order by o.contype = 'f', ${NAME}, o.conname`,
  `select pg_get_indexdef(c.oid) || ';' as line from ${RELATIONS} join pg_index x on x.indexrelid = c.oid
   where not exists (select from pg_constraint o where o.conindid = c.oid and o.contype in ('p', 'u', 'x'))
     and not exists (select from pg_inherits i where i.inhrelid = c.oid) and ${OURS} order by 1`,
  `select format('create view %s as %s', ${NAME}, pg_get_viewdef(c.oid)) as line
   from ${RELATIONS} where c.relkind = 'v' and ${OURS} order by 1`,
  `select pg_get_triggerdef(t.oid) || ';' as line from ${RELATIONS} join pg_trigger t on t.tgrelid = c.oid
   where not t.tgisinternal and ${OURS} order by 1`,
];

const FIRST_AFTER_ROWS = 6;

/** Returns the rows of a table as one statement with a row a line; nothing for an empty table. */
async function insertsOf(client: pg.Client, { name, columns }: DumpedTable): Promise<string[]> {
  const values = columns.map((column) => `quote_nullable(${column}::text)`).join(", ");
  const { rows } = await client.query<{ row: string }>(
    `select format('(%s)', array_to_string(array[${values}], ', ')) as row from ${name} order by 1`,
  );
  if (rows.length === 0) return [];
  return [
    `insert into ${name} (${columns.join(", ")}) overriding system value values\n${rows.map(({ row }) => row).join(",\n")};`,
  ];
}
