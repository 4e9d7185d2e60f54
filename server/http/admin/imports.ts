import { z } from "zod";
import {
  addPiece,
  beginImport,
  cancelImport,
  listImports,
  listRefusals,
  refusedLines,
  type ShownImport,
  showImport,
  startImport,
} from "../../admin/user-imports.ts";
import { formNames } from "../../moving/forms/index.ts";
import { MAX_IMPORT_BYTES, MAX_PIECE_CHARACTERS } from "../../moving/import-bounds.ts";
import { plainError } from "../answer/reply.ts";
import { adminOperation, adminRow, changeOperation, listOperation } from "./admin-operation.ts";
import { streamed } from "./streamed.ts";

/** A piece in JSON may be six times as long as its text. */
const MAX_PIECE_BYTES = 6 * MAX_PIECE_CHARACTERS + 1_000;

const count = z.int().min(0);

const uploaded = z
  .strictObject({
    id: z.guid(),
    state: z
      .enum(["uploading", "waiting", "running", "checked", "imported", "failed", "cancelled"])
      .describe("`checked`: nothing was written, and the file can be imported."),
    check: z.boolean().describe("Whether the file was or is only checked."),
    format: z.string().nullable(),
    pieces: count.describe("Pieces that were taken; the next one has the number after it."),
    bytes: count,
    records: count.nullable().describe("Records that were read, while the import runs."),
    expected: count
      .nullable()
      .describe(
        "Records of the whole file, of which each is imported or refused. Null before it was checked.",
      ),
    imported: count.describe("Users that were imported, or would be."),
    refused: count.describe("Records that were refused, or would be."),
    omitted: z
      .record(z.string(), count)
      .describe("Fields that were not carried over, with the number of users."),
    failure: z.string().nullable().describe("Why the file cannot be imported."),
    created_at: z.iso.datetime({ precision: 3 }),
    updated_at: z.iso.datetime({ precision: 3 }),
  })
  .meta({ id: "UserImport" });

const refusedRecord = z
  .strictObject({
    line: count.describe("Of the file."),
    record: count.describe("Its number, from 1."),
    id: z.string().optional().describe("Its id at its source."),
    reason: z.string(),
  })
  .meta({ id: "RefusedRecord" });

const answer = { schema: uploaded };

const shownAs = ({
  checks,
  form,
  createdAt,
  updatedAt,
  ...shown
}: ShownImport): z.output<typeof uploaded> => ({
  ...shown,
  check: checks,
  format: form,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

/** Imports of users from files. */
export const importAddresses = [
  changeOperation("POST /admin/imports", {
    id: "beginImport",
    // An import verifies addresses, to which the configuration may give a role.
    roleAtDefaultTenant: "operator",
    summary: "Begin to upload a file of users",
    description: `A file of users of another system, or of \`stile users export\`, has at most ${MAX_IMPORT_BYTES} bytes; \`stile users import\` takes longer ones. It is sent in pieces, then checked or imported by a job that goes on after a restart. An upload that is not started within a day has to begin anew.`,
    body: z.strictObject({
      format: z.enum(formNames).optional().describe("Recognized by the first record if it is absent."),
      providers: z
        .record(z.string().min(1).max(255), z.string().min(1).max(255))
        .refine((names) => Object.keys(names).length <= 100, "at most 100 names")
        .default({})
        .describe("Names of identity providers here, by their names in the file."),
      emit_events: z.boolean().default(false).describe("Emit `user.create` for each user."),
    }),
    answers: { 200: answer, 409: "Ten files of the tenant are not imported yet." },
    perform: (context, { body }) =>
      beginImport(context, {
        form: body.format ?? null,
        providers: body.providers,
        emitsEvents: body.emit_events,
      }),
    show: ({ shown }) => shownAs(shown),
  }),
  listOperation("GET /admin/imports", {
    id: "listImports",
    summary: "List uploaded files of users, newest first",
    item: uploaded,
    counts: "Number of files.",
    async list(context, { page }) {
      const { shown, total } = await listImports(context, page);
      return { items: shown.map(shownAs), total };
    },
  }),
  adminOperation("GET /admin/imports/{id}", {
    id: "getImport",
    summary: "Find out how far an import is",
    answers: { 200: answer },
    perform: (context, { params }) => showImport(context, params.id),
    show: ({ shown }) => shownAs(shown),
  }),
  changeOperation("PUT /admin/imports/{id}/pieces/{number}", {
    id: "putImportPiece",
    roleAtDefaultTenant: "operator",
    summary: "Send a piece of a file",
    description:
      "Pieces are numbered from 1 and sent in their order. A file can be cut anywhere between two characters. A piece that is sent again with the same content has no effect: after a lost connection, continue with the number after `pieces`.",
    params: { number: z.string().regex(/^[1-9]\d{0,5}$/) },
    body: z.strictObject({ data: z.string().min(1).max(MAX_PIECE_CHARACTERS) }),
    maxBodyBytes: MAX_PIECE_BYTES,
    answers: {
      200: answer,
      409: "It is not the next piece, has another content than before, or the file is started.",
    },
    perform: (context, { params, body }) =>
      addPiece(context, params.id, { number: Number(params.number), data: body.data }),
    show: ({ shown }) => shownAs(shown),
  }),
  changeOperation("POST /admin/imports/{id}/start", {
    id: "startImport",
    roleAtDefaultTenant: "operator",
    summary: "Check or import a file whose pieces are all there",
    description:
      "A check tells what would be refused, and writes no user. A file that was checked can be imported without sending it again. Each user is imported completely, or refused and reported; existing accounts are never changed. A second call has no effect.",
    body: z.strictObject({
      check: z.boolean().default(true),
      pieces: z.int().min(1).max(999_999).describe("Number of pieces of the whole file."),
    }),
    answers: { 200: answer, 409: "A piece is missing, or the file is not one to start." },
    perform: (context, { params, body }) =>
      startImport(context, params.id, { checks: body.check, pieces: body.pieces }),
    show: ({ shown }) => shownAs(shown),
  }),
  adminRow("GET /admin/imports/{id}/refusals", {
    id: "listImportRefusals",
    summary: "Download the refused records of an import as lines of JSON",
    description:
      "Each line has `line`, `record`, `reason` and, if the record has one, the `id` at its source.",
    answers: { 200: { schema: z.string(), mediaType: "application/jsonl" } },
    async handler(context, { params }) {
      const found = await showImport(context, params.id);
      if (!found.ok) return plainError(404, found.message);
      return streamed(context, refusedLines(context, params.id), {
        what: "refused records",
        file: "refused.jsonl",
        mediaType: "application/jsonl",
      });
    },
  }),
  listOperation("GET /admin/imports/{id}/refused_records", {
    id: "listRefusedRecords",
    summary: "List the refused records of an import, in their order",
    item: refusedRecord,
    counts: "Number of refused records that are stored.",
    async list(context, { params, page }) {
      const found = await listRefusals(context, params.id, page);
      return found.ok ? { items: found.refusals, total: found.total } : found;
    },
  }),
  changeOperation("DELETE /admin/imports/{id}", {
    id: "cancelImport",
    roleAtDefaultTenant: "operator",
    summary: "Cancel an import",
    description: "What was imported stays; the file is deleted. A second call has no effect.",
    answers: { 200: answer, 409: "The import has ended." },
    perform: (context, { params }) => cancelImport(context, params.id),
    show: ({ shown }) => shownAs(shown),
  }),
];
