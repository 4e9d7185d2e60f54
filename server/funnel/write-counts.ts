import type { Database } from "#db/client";
import { queryPrepared } from "#db/prepared";
import { NONE, OTHER } from "./measures.ts";

/**
 * The rows that an hour of a tenant gets with platform, browser, embedding and method. What would need a further one is
 * counted without them.
 */
export const MAX_DETAILED_ROWS = 600;

/** The rows that it gets at all, beside one for each measure, which has what would need a further one. */
export const MAX_ROWS = 1_000;

/** A row of the table, without its tenant. */
export interface CountRow {
  flowType: string;
  state: string;
  /** In milliseconds since 1970. */
  hour: number;
  measure: string;
  name: string;
  target: string;
  method: string;
  platform: string;
  browser: string;
  embedding: string;
  count: number;
  durations: number[] | null;
}

/** The same without what an hour with many rows does not tell apart. */
export const withoutDimensions = (row: CountRow): CountRow => ({
  ...row,
  method: folded(row.method),
  platform: folded(row.platform),
  browser: folded(row.browser),
  embedding: folded(row.embedding),
});

const folded = (value: string) => (value === NONE ? NONE : OTHER);

const withoutNames = (row: CountRow): CountRow => ({
  ...row,
  flowType: OTHER,
  state: OTHER,
  name: OTHER,
  target: OTHER,
});

/** The key of a row within its tenant. */
export const keyOfRow = (row: CountRow): string =>
  [
    row.hour,
    row.measure,
    row.flowType,
    row.state,
    row.name,
    row.target,
    row.method,
    row.platform,
    row.browser,
    row.embedding,
  ].join("|");

/** Adds one row to another of the same key. */
export function addRow(to: CountRow, { count, durations }: CountRow): void {
  to.count += count;
  if (durations === null) return;
  const own = to.durations;
  to.durations = own === null ? durations : own.map((value, bucket) => value + (durations[bucket] ?? 0));
}

/** Adds up the rows of equal keys. */
function summed(rows: readonly CountRow[]): CountRow[] {
  const byKey = new Map<string, CountRow>();
  for (const row of rows) {
    const key = keyOfRow(row);
    const known = byKey.get(key);
    if (known) addRow(known, row);
    else byKey.set(key, { ...row });
  }
  return [...byKey.values()];
}

/** The columns of the key, in its order: processes that add to the same rows lock them in one order. */
const keyColumns = [
  "measure",
  "flow_type",
  "state",
  "hour",
  "name",
  "target",
  "method",
  "platform",
  "browser",
  "embedding",
];

const key = keyColumns.join(", ");

/**
 * Adds to rows that exist, and inserts others while the hour has fewer than $13 rows. Of concurrent statements each sees the
 * rows of those that have ended: together they exceed the bound by what they insert in that moment.
 */
const text = `
  with given as (
    select *, durations_text::integer[] as durations from unnest(
      $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
      $11::text[], $12::bigint[], $14::text[]
    ) with ordinality as given (${key}, count, durations_text, position)),
  present as (
    select hour, count(*) as rows from funnel_counts
    where tenant_id = $1 and hour in (select hour from given) group by hour),
  known as (
    select given.*, stored.hour is not null as is_stored, coalesce(present.rows, 0) as rows
    from given left join present using (hour) left join lateral (
      select hour from funnel_counts stored
      where stored.tenant_id = $1
        and ${keyColumns.map((column) => `stored.${column} = given.${column}`).join(" and ")}
      limit 1) stored on true),
  judged as (
    select *, is_stored or rows + count(*) filter (where not is_stored)
      over (partition by hour order by position) <= $13::int as fits
    from known),
  counted as (
    insert into funnel_counts as stored (tenant_id, ${key}, count, durations)
    select $1, ${key}, count, durations from judged where fits order by ${key}
    on conflict (tenant_id, ${key}) do update set
      count = stored.count + excluded.count,
      durations = case
        when stored.durations is null then excluded.durations
        when excluded.durations is null then stored.durations
        else array(
          select coalesce(one, 0) + coalesce(other, 0)
          from unnest(stored.durations, excluded.durations) with ordinality as added (one, other, bucket) order by bucket)
      end)
  select position::int - 1 as position from judged where not fits`;

const NO_BOUND = 2_000_000_000;

/** How counts are told apart, and up to how many rows of an hour: what does not fit goes on to the next entry. */
const levels = [
  { bound: MAX_DETAILED_ROWS, shape: (row: CountRow) => row },
  { bound: MAX_ROWS, shape: withoutDimensions },
  { bound: NO_BOUND, shape: withoutNames },
];

/**
 * Adds counts to those of a tenant, in one statement. Only where an hour has as many rows as it gets, what would need
 * another one is added by a second or third statement to rows that tell less apart. Never throws.
 *
 * @returns the rows that are not written, and the failure
 */
export async function writeCounts(
  database: Pick<Database, "claim" | "prepares">,
  tenantId: string,
  rows: readonly CountRow[],
): Promise<{ unwritten: readonly CountRow[]; failure?: unknown }> {
  let rest = rows;
  for (const { bound, shape } of levels) {
    if (rest.length === 0) break;
    try {
      rest = await upsert(database, tenantId, summed(rest.map(shape)), bound);
    } catch (failure) {
      return { unwritten: rest, failure };
    }
  }
  return { unwritten: rest };
}

/** @returns the rows that do not fit */
async function upsert(
  database: Pick<Database, "claim" | "prepares">,
  tenantId: string,
  rows: readonly CountRow[],
  bound: number,
): Promise<CountRow[]> {
  const values = [
    tenantId,
    rows.map(({ measure }) => measure),
    rows.map(({ flowType }) => flowType),
    rows.map(({ state }) => state),
    rows.map(({ hour }) => new Date(hour)),
    rows.map(({ name }) => name),
    rows.map(({ target }) => target),
    rows.map(({ method }) => method),
    rows.map(({ platform }) => platform),
    rows.map(({ browser }) => browser),
    rows.map(({ embedding }) => embedding),
    rows.map(({ count }) => count),
    bound,
    rows.map(({ durations }) => durations && `{${durations.join(",")}}`),
  ];
  const unfit = await queryPrepared<{ position: number }, "claim">(database, "claim", {
    name: "funnel_counts",
    text,
    values,
  });
  return unfit.flatMap(({ position }) => rows[position] ?? []);
}
