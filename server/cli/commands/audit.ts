import { setTimeout as wait } from "node:timers/promises";
import { auditEntryJson } from "../../audit/audit-entry.ts";
import {
  type AuditFilter,
  exportAuditEntries,
  listAuditEntries,
  type ReadAuditRow,
} from "../../audit/audit-log.ts";
import { type AuditType, auditTypes } from "../../audit/audit-types.ts";
import { entriesAbout } from "../../audit/named-user.ts";
import { currentTime } from "../../database/current-time.ts";
import { type AtTenant, atTenant } from "../at-tenant.ts";
import { auditCells, auditHeads } from "../audit-lines.ts";
import { command, UsageError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { limitOption, pageOf, pageOption, tenantOption, timeOf } from "../options.ts";
import { table } from "../table.ts";

const filters = {
  user: {
    description: "Only entries about this id, email address or username, in full; also of no account.",
    value: "user",
  },
  type: { description: "Only of this type, for instance login_failure.", value: "type", multiple: true },
  ip: { description: "Only from this IP address, or a part of one.", value: "address" },
  tenant: tenantOption,
} as const;

const since = {
  description: "Only later ones: a time as 2026-01-31T12:00:00Z, or a duration as 15m, 2h, 7d.",
  value: "time",
} as const;

export const auditList = command({
  name: "audit list",
  summary: "List entries of the audit log, newest first.",
  details:
    "Names and addresses are masked as audit_log of the configuration says. Entries about an identifier of no account\nare found by a digest that is keyed by SECRET_KEYS.",
  options: {
    ...filters,
    since,
    until: { ...since, description: "Only earlier ones, likewise." },
    limit: limitOption,
    page: pageOption,
    json: { description: "As JSON, with all details." },
  },
  async run(cli, values) {
    const page = pageOf(values);
    const types = typesOf(values.type);
    await atTenant(cli, values.tenant, async (at) => {
      const filter = await filterOf(at, { ...values, types });
      const { rows, total } = await listAuditEntries(at.runtime.database.read, at.tenant, filter, page);
      const entries = rows.map((row) => auditEntryJson(row, at.tenant.config));
      if (values.json) return cli.print(JSON.stringify({ total, entries }));
      for (const line of table(auditHeads, entries.map(auditCells))) await cli.print(line);
      if (total > entries.length) await cli.print(`page ${page.number}: ${entries.length} of ${total}`);
    });
  },
});

/** Milliseconds between two looks at the log. */
const INTERVAL_MS = 1_000;

/** An entry has the time of its request, and can be committed later: no step takes longer than this. */
const LATENESS_MS = 30_000;

/** Every so many looks read the time again in which late entries may appear; the others read what is newer. */
const LOOKS_FOR_LATE_ONES = 5;

export const auditFollow = command({
  name: "audit follow",
  summary: "Print entries of the audit log as they are written, until it is interrupted.",
  options: {
    ...filters,
    since: { ...since, description: "Begin with later ones; by default with the present." },
    json: { description: "One JSON object per line." },
  },
  async run(cli, values) {
    const signal = cli.interruption();
    const types = typesOf(values.type);
    await atTenant(cli, values.tenant, async (at) => {
      const filter = await filterOf(at, { ...values, types });
      for await (const row of newEntries(at, filter, signal)) {
        const entry = auditEntryJson(row, at.tenant.config);
        await cli.print(
          values.json ? JSON.stringify(entry) : auditCells(entry).map(escapeControls).join("  "),
        );
      }
    });
  },
});

/** Yields each entry once, in the order of their times as far as they are known, until the signal aborts. */
async function* newEntries(
  { runtime, tenant, now: started }: AtTenant,
  filter: AuditFilter,
  signal: AbortSignal,
): AsyncGenerator<ReadAuditRow, void> {
  const begin = filter.after ?? started;
  /** Entries that another look for late ones would find again. */
  const seen = new Map<string, Date>();
  let newest = begin;
  for (let look = 0; !signal.aborted; look++) {
    const now = await currentTime(runtime);
    const before = new Date(now.getTime() + LATENESS_MS);
    const late = new Date(Math.max(begin.getTime(), now.getTime() - LATENESS_MS));
    const after = look === 0 ? begin : look % LOOKS_FOR_LATE_ONES === 0 ? late : newest;
    const batches = exportAuditEntries(runtime.database.read, tenant, { ...filter, after, before });
    for await (const rows of batches) {
      for (const row of rows) {
        if (seen.has(row.id)) continue;
        if (row.createdAt > late) seen.set(row.id, row.createdAt);
        if (row.createdAt > newest) newest = row.createdAt;
        yield row;
        if (signal.aborted) return;
      }
    }
    for (const [id, at] of seen) if (at <= late) seen.delete(id);
    await wait(INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

interface FilterValues {
  user: string | undefined;
  ip: string | undefined;
  since: string | undefined;
  until?: string | undefined;
  types: AuditType[];
}

async function filterOf({ runtime, tenant, now }: AtTenant, values: FilterValues): Promise<AuditFilter> {
  return {
    after: timeOf(values.since, now),
    before: timeOf(values.until, now),
    types: values.types.length > 0 ? values.types : undefined,
    sourceIp: values.ip,
    about: values.user === undefined ? undefined : await entriesAbout(runtime, tenant, values.user),
  };
}

function typesOf(given: readonly string[]): AuditType[] {
  return given.map((name) => {
    const found = auditTypes.find((type) => type === name);
    if (!found) throw new UsageError(`${name} is not a type of entries; /openapi.json lists them`);
    return found;
  });
}
