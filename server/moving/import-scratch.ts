import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Database } from "#db/client";
import { isStorable } from "../identity/metadata.ts";
import { storable } from "../lib/storable-text.ts";
import { ImportError } from "./import-error.ts";
import { readAnyRecords, type SourceLine } from "./open-source.ts";
import { asText } from "./source-fields.ts";
import type { UserKey } from "./user-rows.ts";

/** Temporary tables of one connection: what an import must remember of its input, and the process has no room for. */
export interface Scratch {
  /**
   * Loads rows of identities, each with the id of its user as `user_id`.
   *
   * @returns the SHA-256 of the rows
   * @throws ImportError that names the line of the first invalid row
   */
  loadIdentities(input: AsyncIterable<Buffer>): Promise<string>;
  /** Gives each user of a batch its identities. */
  addIdentities(lines: readonly SourceLine[]): Promise<void>;
  /** Remembers keys of users that would have been imported. */
  remember(keys: readonly UserKey[]): Promise<void>;
  /** Of some keys, those that were remembered. */
  seen(keys: readonly UserKey[]): Promise<string[]>;
  close(): Promise<void>;
}

/** Keys may be longer than the entry of an index. */
const digest = sql.raw("sha256(convert_to(key, 'UTF8'))");

/** Opens a connection for temporary tables, which end with it. */
export async function openScratch({ write }: Pick<Database, "write">): Promise<Scratch> {
  const client = await write.$client.connect();
  const db = drizzle({ client });
  let hasIdentities = false;
  await db.execute(sql`create temporary table seen_keys (digest bytea primary key)`);
  return {
    async loadIdentities(input) {
      await db.execute(
        sql`create temporary table given_identities (user_id text not null, record json not null)`,
      );
      const hash = createHash("sha256");
      for await (const lines of readAnyRecords(input)) {
        const broken = lines.find(
          (line) => !line.ok || typeof line.record.user_id !== "string" || !isStorable(line.record),
        );
        if (broken)
          throw new ImportError(`line ${broken.line} of the identities has no user_id, or cannot be stored`);
        for (const { text } of lines) hash.update(`${text}\n`);
        const records = JSON.stringify(lines.map((line) => (line.ok ? line.record : null)));
        await db.execute(sql`
          insert into given_identities select record ->> 'user_id', record from json_array_elements(${records}::json) record`);
      }
      await db.execute(sql`create index on given_identities (user_id)`);
      await db.execute(sql`analyze given_identities`);
      hasIdentities = true;
      return hash.digest("hex");
    },

    async addIdentities(lines) {
      if (!hasIdentities) return;
      const records = lines.flatMap((line) => (line.ok ? [line.record] : []));
      const ids = sql.param(records.map(({ id }) => storable(asText(id))));
      const { rows } = await db.execute<{ user_id: string; records: unknown[] }>(sql`
        select user_id, json_agg(record) as records from given_identities where user_id = any(${ids}::text[]) group by 1`);
      const found = new Map(rows.map((row) => [row.user_id, row.records]));
      for (const record of records) {
        const identities = found.get(asText(record.id));
        if (identities) record.identities = identities;
      }
    },

    async remember(keys) {
      await db.execute(
        sql`insert into seen_keys select ${digest} from unnest(${sql.param([...keys])}::text[]) key on conflict do nothing`,
      );
    },

    async seen(keys) {
      const { rows } = await db.execute<{ key: string }>(
        sql`select key from unnest(${sql.param([...keys])}::text[]) key where ${digest} in (select digest from seen_keys)`,
      );
      return rows.map(({ key }) => key);
    },

    // The connection ends, and the tables with it.
    close: async () => client.release(true),
  };
}
