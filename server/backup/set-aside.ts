import type pg from "pg";

/** Foreign keys and triggers of the tables that rows are copied into. */
export interface RulesOfTables {
  foreignKeys: { name: string; relation: string; definition: string }[];
  triggers: { name: string; relation: string }[];
}

/** The rules of tables in schema `public`, whose rows need no order then and are checked all at once. */
export async function setAside(client: pg.Client): Promise<RulesOfTables> {
  const { rows: foreignKeys } = await client.query<RulesOfTables["foreignKeys"][number]>(
    `select conname as name, conrelid::regclass::text as relation, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0
    order by 2, 1`,
  );
  const { rows: triggers } = await client.query<RulesOfTables["triggers"][number]>(
    `select t.tgname as name, t.tgrelid::regclass::text as relation
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgenabled = 'O' and c.relnamespace = 'public'::regnamespace
    order by 2, 1`,
  );
  for (const { name, relation } of foreignKeys)
    await client.query(`alter table ${relation} drop constraint "${name}"`);
  for (const { name, relation } of triggers)
    await client.query(`alter table ${relation} disable trigger "${name}"`);
  return { foreignKeys, triggers };
}

/** @throws an error of PostgreSQL if a row refers to none */
export async function putBack(client: pg.Client, { foreignKeys, triggers }: RulesOfTables): Promise<void> {
  for (const { name, relation, definition } of foreignKeys)
    await client.query(`alter table ${relation} add constraint "${name}" ${definition}`);
  for (const { name, relation } of triggers)
    await client.query(`alter table ${relation} enable trigger "${name}"`);
}
