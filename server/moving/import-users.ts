import { createHash } from "node:crypto";
import type { Databases, Transaction } from "#db/client";
import { isInvalidValue, isRetryable, violatedUnique } from "#db/errors";
import { audit, commandLine } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import { currentTime } from "../database/current-time.ts";
import { emit, type WakesWebhooks } from "../events/emit.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { printable } from "../lib/printable-text.ts";
import { acceptableHashes } from "../methods/password/acceptable-hash.ts";
import type { Form, SourceOptions } from "./form.ts";
import { type FormName, forms } from "./forms/index.ts";
import { ImportError } from "./import-error.ts";
import { finishProgress, type ImportProgress, saveProgress, startProgress } from "./import-progress.ts";
import type { ImportReport, Refusal } from "./import-report.ts";
import { openScratch, type Scratch } from "./import-scratch.ts";
import { type JudgedUser, judgeUser } from "./judge-user.ts";
import { openSource, type Source, type SourceLine } from "./open-source.ts";
import { asText } from "./source-fields.ts";
import { insertUsers, takenKeys, takenReason, type UserKey, type UserRows } from "./user-rows.ts";

/** What an import needs of a runtime. */
export type ImportRuntime = Configured & Databases & Sealing & OnPlatform & AuditOutputs & WakesWebhooks;

export interface ImportOptions extends Omit<SourceOptions, "acceptHash"> {
  /** Null to recognize it by the first record. */
  form: FormName | null;
  /** Rows of identities in a file of their own, by the ids of their users. */
  identities?: AsyncIterable<Buffer>;
  /** Judges everything, and writes nothing. */
  dryRun: boolean;
  /** Continues an interrupted import of the same input. */
  resume: boolean;
  /** Emits `user.create` for each user. */
  emitEvents: boolean;
  /** Identifies the input in place of its beginning. */
  inputHash?: Buffer;
  /** Who imports. Default: the `stile` command. */
  actor?: Actor;
  /** Written with the end of the import, which is not repeated then. */
  finish?: (tx: Transaction, result: ImportCounts) => Promise<void>;
}

/** How many users were imported and refused. */
export type ImportCounts = Pick<ImportProgress, "imported" | "refused" | "omitted">;

/** The result of an import, that of an interrupted one before included. */
export interface ImportResult {
  form: FormName;
  imported: number;
  refused: number;
  /** The number of users for whom a field could not be carried over, by the name of the field. */
  omitted: Record<string, number>;
  /** Records that an interrupted import had read. */
  resumedAfter: number;
}

/** Records of one transaction, or fewer if they are long. */
const BATCH_RECORDS = 1_000;
const BATCH_CHARACTERS = 8_388_608;
/** Attempts to write a batch against concurrent changes, before its users are written one at a time. */
const MAX_ATTEMPTS = 4;
/** Kinds of omitted fields that are told apart. A record can name fields without end. */
const MAX_OMITTED_KINDS = 200;

/**
 * Imports users. Each is imported completely, or it is refused, reported and has no effect; accounts that exist are never
 * changed. Reads the input as a stream and writes it in batches, whose transactions also record how far the import is:
 * an import that was interrupted and resumed has the same result as one that was not.
 *
 * @throws ImportError if the input is of no known form, ends within a record, is not the one to resume, or is being
 *   imported by another process
 */
export async function importUsers(
  runtime: ImportRuntime,
  tenant: Tenant,
  input: AsyncIterable<Buffer>,
  options: ImportOptions,
  report: ImportReport,
): Promise<ImportResult> {
  const acceptHash = await acceptableHashes(runtime.config.password);
  const source = await openSource(input, options.form);
  const form: Form = forms[source.form];
  const scratch = options.dryRun || options.identities ? await openScratch(runtime.database) : null;
  try {
    const identities =
      scratch && options.identities ? await scratch.loadIdentities(options.identities) : null;
    const { providers, firebase = null, emitEvents } = options;
    const deciding = [source.form, Object.entries(providers).sort(), firebase, emitEvents, identities];
    const judge = { tenant, vault: runtime.vault, platform: runtime.platform, acceptHash };
    const judged = (line: SourceLine): JudgedUser =>
      line.ok
        ? judgeUser(judge, form.convert(line.record, { ...options, acceptHash }), form.isStrict === true)
        : line;
    const run = {
      runtime,
      tenant,
      source,
      report,
      scratch,
      options,
      decidingOptions: JSON.stringify(deciding),
    };
    const result = options.dryRun ? await rehearse(run, judged) : await write(run, judged);
    return { form: source.form, ...result };
  } finally {
    await scratch?.close();
  }
}

interface Run {
  runtime: ImportRuntime;
  tenant: Tenant;
  source: Source;
  report: ImportReport;
  scratch: Scratch | null;
  options: ImportOptions;
  /** What decides how a record is imported. */
  decidingOptions: string;
}

type Judge = (line: SourceLine) => JudgedUser;
type RecordPosition = Omit<Refusal, "reason">;

interface Batch {
  users: (RecordPosition & { judged: JudgedUser })[];
  /** SHA-256 of what decides how records are imported, and of all records up to the end of the batch. */
  recordsHash: Buffer;
}

/** Members that hold the id of a user, of the forms that are imported. */
const idMembers = ["id", "user_id", "_id", "localId", "uid", "sub"];

/** Characters of an id in a report. */
const MAX_REPORTED_ID = 100;

function recordPosition(line: SourceLine): RecordPosition {
  const position = { line: line.line, record: line.number };
  if (!line.ok) return position;
  const { record } = line;
  const id = idMembers.map((name) => asText(record[name])).find((text) => text !== "");
  return id === undefined ? position : { ...position, id: printable(id).slice(0, MAX_REPORTED_ID) };
}

/** Reads all batches, and lets `commit` handle one while the next one is read and judged. */
async function eachBatch(
  { source, scratch, decidingOptions }: Run,
  judge: Judge,
  skip: Pick<ImportProgress, "records" | "recordsHash">,
  commit: (batch: Batch) => Promise<void>,
): Promise<void> {
  const hash = createHash("sha256").update(decidingOptions);
  let toSkip = skip.records;
  let committing = Promise.resolve();
  let lines: SourceLine[] = [];
  let characters = 0;

  const flush = async () => {
    if (lines.length === 0) return;
    await scratch?.addIdentities(lines);
    const users = lines.map((line) => ({ ...recordPosition(line), judged: judge(line) }));
    const batch = { users, recordsHash: hash.copy().digest() };
    lines = [];
    characters = 0;
    await committing;
    committing = commit(batch);
    // Reported by the next `await`; without this, an error before it would end the process.
    committing.catch(() => {});
  };

  const take = async (chunk: readonly SourceLine[]) => {
    for (const line of chunk) {
      hash.update(line.text ?? "").update("\n");
      if (toSkip > 0) {
        toSkip -= 1;
        if (toSkip === 0 && !hash.copy().digest().equals(skip.recordsHash))
          throw new ImportError("the input or the options are not those of the interrupted import");
        continue;
      }
      lines.push(line);
      characters += line.text?.length ?? 0;
      if (lines.length === BATCH_RECORDS || characters > BATCH_CHARACTERS) await flush();
    }
  };

  try {
    for await (const chunk of source.lines()) await take(chunk);
    await flush();
    await committing;
  } finally {
    // Of an input that fails, the batch that is being written is finished first.
    await committing.catch(() => {});
  }
  if (toSkip > 0) throw new ImportError("the input is shorter than the one whose import was interrupted");
}

async function write(run: Run, judge: Judge): Promise<ImportCounts & { resumedAfter: number }> {
  const { runtime, tenant, source, report, options } = run;
  const { database } = runtime;
  const { actor = commandLine, inputHash = source.inputHash } = options;
  const key = { tenantId: tenant.id, inputHash };
  let progress = await startProgress(database, key, options.resume);
  const resumedAfter = progress.records;
  await report.resume(progress.reportBytes);

  await eachBatch(run, judge, progress, async (batch) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { next, refusals } = await database.write.transaction(async (tx) => {
          const now = await currentTime(runtime);
          const taken = await takenKeys(tx, tenant.id, keysOf(batch));
          const decided = decide(batch, taken);
          let { accepted, refusals } = decided;
          if (attempt < MAX_ATTEMPTS)
            await insertUsers(
              tx,
              tenant.id,
              accepted.map(({ rows }) => rows),
              now,
            );
          else {
            const refused: Refusal[] = [];
            for (const user of accepted) {
              const reason = await insertAlone(tx, tenant.id, user.rows, now);
              if (reason !== null) refused.push({ ...user.position, reason });
            }
            refusals = [...refusals, ...refused].sort((one, other) => one.record - other.record);
            const records = new Set(refused.map(({ record }) => record));
            accepted = accepted.filter(({ position }) => !records.has(position.record));
          }
          if (options.emitEvents)
            for (const { rows } of accepted) await emit({ runtime, tenant }, "user.create", rows.user.id)(tx);
          const next = {
            ...counted(progress, accepted, refusals),
            records: progress.records + batch.users.length,
            recordsHash: batch.recordsHash,
            reportBytes: await report.stage(refusals, tx),
          };
          if (!(await saveProgress(tx, key, progress, next)))
            throw new ImportError("this input is being imported by another process");
          return { next, refusals };
        });
        progress = next;
        report.accept(refusals);
        return;
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS) throw error;
        // A value that the database rejects is found by writing the users one at a time.
        if (isInvalidValue(error)) attempt = MAX_ATTEMPTS - 1;
        else if (violatedUnique(error) === null && !isRetryable(error)) throw error;
      }
    }
  });

  const { imported, refused, omitted } = progress;
  const now = await currentTime(runtime);
  await database.write.transaction(async (tx) => {
    await finishProgress(tx, key);
    const details = { form: source.form, imported, refused };
    await audit({ runtime, tenant, client: actor, now }, "users_imported", details)(tx);
    await options.finish?.(tx, { imported, refused, omitted });
  });
  return { imported, refused, omitted, resumedAfter };
}

/** Judges as `write` does. What it would have written is remembered in a temporary table. */
async function rehearse(run: Run, judge: Judge): Promise<ImportCounts & { resumedAfter: number }> {
  const { runtime, tenant, report, scratch } = run;
  let counts: ImportCounts = { imported: 0, refused: 0, omitted: {} };
  await report.resume(0);
  await eachBatch(run, judge, { records: 0, recordsHash: Buffer.alloc(0) }, async (batch) => {
    const keys = keysOf(batch);
    const [existing, before] = [
      await takenKeys(runtime.database.read, tenant.id, keys),
      (await scratch?.seen(keys)) ?? [],
    ];
    const { accepted, refusals } = decide(batch, new Set([...existing, ...before]));
    await scratch?.remember(accepted.flatMap((user) => user.keys));
    await report.stage(refusals, null);
    report.accept(refusals);
    counts = counted(counts, accepted, refusals);
  });
  return { ...counts, resumedAfter: 0 };
}

function keysOf({ users }: Batch): UserKey[] {
  return users.flatMap(({ judged }) => (judged.ok ? judged.keys : []));
}

interface Accepted {
  position: RecordPosition;
  rows: UserRows;
  keys: readonly UserKey[];
  omitted: readonly string[];
}

/** Accepts users in their order, of which none has a key that is taken or that one before has. */
function decide({ users }: Batch, taken: ReadonlySet<string>): { accepted: Accepted[]; refusals: Refusal[] } {
  const seen = new Set<string>();
  const accepted: Accepted[] = [];
  const refusals: Refusal[] = [];
  for (const { judged, ...position } of users) {
    const conflict = judged.ok ? judged.keys.find((key) => taken.has(key) || seen.has(key)) : undefined;
    if (!judged.ok) refusals.push({ ...position, reason: judged.reason });
    else if (conflict !== undefined) refusals.push({ ...position, reason: takenReason(conflict) });
    else {
      for (const key of judged.keys) seen.add(key);
      accepted.push({ position, ...judged });
    }
  }
  return { accepted, refusals };
}

function counted(
  before: ImportCounts,
  accepted: readonly Accepted[],
  refusals: readonly Refusal[],
): ImportCounts {
  const omitted = new Map(Object.entries(before.omitted));
  for (const user of accepted) {
    for (const name of new Set(user.omitted.map((one) => printable(one.slice(0, 128))))) {
      const isKnown = omitted.has(name) || omitted.size < MAX_OMITTED_KINDS;
      const kind = isKnown ? name : "other fields";
      omitted.set(kind, (omitted.get(kind) ?? 0) + 1);
    }
  }
  return {
    imported: before.imported + accepted.length,
    refused: before.refused + refusals.length,
    omitted: Object.fromEntries(omitted),
  };
}

/** Inserts one user, and returns the reason if the database rejects it. */
async function insertAlone(
  tx: Transaction,
  tenantId: string,
  rows: UserRows,
  now: Date,
): Promise<string | null> {
  try {
    await tx.transaction((savepoint) => insertUsers(savepoint, tenantId, [rows], now));
    return null;
  } catch (error) {
    if (isInvalidValue(error)) return "a value cannot be stored";
    if (violatedUnique(error) !== null) return "a unique value is in use";
    throw error;
  }
}
