import { withClient } from "../server/testing/postgres-cluster.ts";

/**
 * `DATABASE_URL=… node scripts/run.js bench/sizes.ts` prints what tables and indexes take: the table of
 * `docs/performance.md`.
 */

interface Size {
  name: string;
  rows: number;
  heap: number;
  toast: number;
  /** By name; scans since the statistics began. */
  indexes: { name: string; bytes: number; scans: number }[];
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

/**
 * Returns tables of Markdown: each table and each index that takes a thousandth of all bytes or more, the largest first.
 *
 * @param users by which the bytes are divided; default: the rows of `users`
 */
export async function sizesOf(url: string, users?: number): Promise<string> {
  const { rows: sizes } = await withClient(url, (client) =>
    client.query<Size>(`
      select c.relname as name, greatest(c.reltuples, 0)::float8 as rows,
        (pg_table_size(c.oid) - coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::float8 as heap,
        coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)::float8 as toast,
        coalesce((select json_agg(json_build_object('name', s.indexrelname, 'bytes', pg_relation_size(s.indexrelid),
          'scans', s.idx_scan) order by s.indexrelname) from pg_stat_user_indexes s where s.relid = c.oid), '[]') as indexes
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = 'public' order by pg_total_relation_size(c.oid) desc`),
  );
  const people = users ?? sizes.find(({ name }) => name === "users")?.rows ?? Number.NaN;
  const ofIndexes = ({ indexes }: Size) => indexes.reduce((sum, { bytes }) => sum + bytes, 0);
  const line = (name: string, rows: string, heap: number, toast: number, indexes: number) =>
    `| ${name} | ${rows} | ${megabytes(heap)} | ${megabytes(indexes)} | ${megabytes(toast)} | ${((heap + toast + indexes) / people).toFixed(0)} |`;
  const sum = (of: (size: Size) => number) => sizes.reduce((all, size) => all + of(size), 0);
  const total = sum(({ heap, toast }) => heap + toast) + sum(ofIndexes);
  const isShown = (bytes: number) => bytes >= total / 1000;
  const indexes = sizes
    .flatMap((size) => size.indexes.map((index) => ({ ...index, table: size.name })))
    .filter(({ bytes }) => isShown(bytes))
    .toSorted((one, other) => other.bytes - one.bytes);
  return [
    "| table | rows | MB of heap | of indexes | of TOAST | bytes a user |",
    "|---|--:|--:|--:|--:|--:|",
    ...sizes
      .filter((size) => isShown(size.heap + size.toast + ofIndexes(size)))
      .map((size) => line(`\`${size.name}\``, size.rows.toFixed(0), size.heap, size.toast, ofIndexes(size))),
    line(
      "all tables",
      "",
      sum(({ heap }) => heap),
      sum(({ toast }) => toast),
      sum(ofIndexes),
    ),
    "",
    "| index | of | MB | scans |",
    "|---|---|--:|--:|",
    ...indexes.map(
      ({ name, table, bytes, scans }) => `| \`${name}\` | \`${table}\` | ${megabytes(bytes)} | ${scans} |`,
    ),
  ].join("\n");
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(`${await sizesOf(process.env.DATABASE_URL ?? "")}\n`);
