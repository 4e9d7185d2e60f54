import { z } from "zod";
import { notFound, rejectAdmin } from "../../admin/rejections.ts";
import { beginReseal, cancelReseal, listReseals, showReseal } from "../../admin/reseals.ts";
import { listSigningKeys, rotateSigningKey, type ShownKey } from "../../admin/signing-keys.ts";
import { resealStates, type StoredReseal } from "../../admin/stored-reseals.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { countByKey, keyedValues } from "../../keys/key-status.ts";
import { algorithms, keyPurposes, keyStates } from "../../keys/signing-key-store.ts";
import { existingTenant } from "../../tenants/manage-tenants.ts";
import { clientContext, type HandlerContext } from "../table/handler-context.ts";
import { adminOperation, listOperation, NOT_FOUND } from "./admin-operation.ts";
import { isOperator, tenantOperation, tenantPlaces } from "./tenants.ts";

const count = z.int().min(0);
const time = z.iso.datetime({ precision: 3 });

const FORBIDDEN = "Keys are the operator's.";

const role = "operator" as const;

const forbidden = rejectAdmin("forbidden", "Only a key of the default tenant manages these keys.");

const signingKey = z
  .strictObject({
    id: z.string().describe("`kid` of the key set."),
    purpose: z
      .enum(keyPurposes)
      .describe("`session`: tokens of sessions; `passkeys`: of the passkey server."),
    algorithm: z.enum(algorithms),
    state: z
      .enum(keyStates)
      .describe(
        "`next`: published, and signs soon; `former`: verifies what it has signed; `archived`: verifies no token.",
      ),
    created_at: time,
    signs_from: time.describe("When it began to sign, or will."),
    published_until: time.nullable().describe("When its last token expires; null until it has retired."),
  })
  .meta({ id: "SigningKey" });

const shownKey = ({ createdAt, signsFrom, publishedUntil, ...key }: ShownKey) => ({
  ...key,
  created_at: createdAt.toISOString(),
  signs_from: signsFrom.toISOString(),
  published_until: publishedUntil?.toISOString() ?? null,
});

/** A tenant as it is served; null if its settings are invalid. */
const servedTenant = async ({ runtime }: HandlerContext, id: string) =>
  (await existingTenant(runtime, id)).tenant;

const signingKeyAddresses = tenantPlaces.flatMap(({ prefix, suffix, of }) => [
  tenantOperation(`GET ${prefix}/signing_keys`, {
    id: `listSigningKeys${suffix}`,
    role,
    summary: `List the keys that sign the tokens of ${of}, without their private parts`,
    answers: { 200: { schema: z.array(signingKey) }, 403: FORBIDDEN, 404: NOT_FOUND },
    async perform(id, context) {
      if (!isOperator(context)) return forbidden;
      const tenant = await servedTenant(context, id);
      return tenant && (await listSigningKeys(context.runtime, tenant)).map(shownKey);
    },
  }),
  tenantOperation(`POST ${prefix}/signing_keys`, {
    id: `rotateSigningKey${suffix}`,
    role,
    summary: `Replace the key that signs tokens of ${of}`,
    description:
      "The new key is published at once and signs eleven minutes later, when caches of the key set have ended. The former key verifies its tokens until they have expired: no session ends.",
    body: z.object({ purpose: z.enum(keyPurposes) }),
    answers: {
      200: { schema: z.array(signingKey) },
      403: FORBIDDEN,
      404: NOT_FOUND,
      409: "The newest key is less than 22 minutes old, or ten keys are published.",
    },
    async perform(id, context, { body: { purpose } }) {
      if (!isOperator(context)) return forbidden;
      const tenant = await servedTenant(context, id);
      if (!tenant) return notFound;
      const rotated = await rotateSigningKey(context.runtime, tenant, purpose, context.client);
      return rotated.ok ? rotated.keys.map(shownKey) : rotated;
    },
  }),
]);

const secretKeys = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        id: z.string(),
        place: z.int().nullable().describe("In `SECRET_KEYS`, from 1; null if it is not configured."),
        values: count.describe("Stored values under it."),
        removable: z
          .boolean()
          .describe("It is not the first one and no value is under it: remove it a day after the last move."),
      }),
    ),
    values: z.array(
      z.strictObject({
        holds: z.string(),
        key: z.string().nullable().describe("Null for a digest of an earlier version, which names no key."),
        place: z.int().nullable(),
        count,
        after: z
          .enum(["reseal", "expiry", "replacement"])
          .describe(
            "What becomes of them under a former key: moved by a reseal, gone within a day, or replaced by their users.",
          ),
      }),
    ),
  })
  .meta({ id: "SecretKeys" });

const reseal = z
  .strictObject({
    id: z.guid(),
    state: z.enum(resealStates),
    key: z.string().describe("Id of the key that values are moved under: the first one."),
    total: count.nullable().describe("Values of the columns that were begun; null before the first."),
    moved: count,
    columns: z.array(
      z.strictObject({
        holds: z.string(),
        table: z.string(),
        column: z.string(),
        total: count.nullable().describe("Values that were to be moved; null if the column is not begun."),
        moved: count,
        unknown_keys: z.array(z.string()).describe("Keys of values that stay, which are not configured."),
        broken: count.describe("Values that stay because they were changed in the database."),
        done: z.boolean(),
      }),
    ),
    failure: z.string().nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Reseal" });

const holdsOf = (table: string, column: string) =>
  keyedValues.find((values) => values.table === table && values.column === column)?.holds ?? table;

function shownReseal({ id, state, keyId, columns, failure, createdAt, updatedAt }: StoredReseal) {
  const begun = columns.filter(({ total }) => total !== null);
  const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
  return {
    id,
    state,
    key: keyId,
    total: begun.length === 0 ? null : sum(begun.map(({ total }) => total ?? 0)),
    moved: sum(columns.map(({ moved }) => moved)),
    columns: columns.map(({ after: _, unknown, broken = 0, ...column }) => ({
      holds: holdsOf(column.table, column.column),
      ...column,
      unknown_keys: unknown,
      broken,
    })),
    failure,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

const resealAnswers = { 200: { schema: reseal }, 403: FORBIDDEN };

/** Keys that sign for tenants, and those that stored secrets are sealed with. Their values are never shown. */
export const keyAddresses = [
  ...signingKeyAddresses,
  adminOperation("GET /admin/secret_keys", {
    id: "getSecretKeys",
    role,
    summary: "Count the stored values under each secret key",
    description: "Cookies and jobs are not counted; they end within a day.",
    answers: { 200: { schema: secretKeys }, 403: FORBIDDEN },
    async perform(context) {
      if (!isOperator(context)) return forbidden;
      const { database, vault } = context.runtime;
      const values = await heavyRead(database.read, () => countByKey(database, vault));
      const ids = [...new Set([...vault.keyIds, ...values.flatMap(({ key }) => key ?? [])])];
      const keys = ids.map((id) => {
        const place = vault.keyIds.indexOf(id) + 1;
        const under = values.filter(({ key }) => key === id).reduce((sum, value) => sum + value.count, 0);
        return { id, place: place || null, values: under, removable: place > 1 && under === 0 };
      });
      return { keys, values };
    },
  }),
  adminOperation("POST /admin/reseals", {
    id: "beginReseal",
    role,
    summary: "Move all stored secrets under the first secret key",
    description:
      "A job does it, which goes on after a restart. To rotate: add a new key second in SECRET_KEYS on every server, then put it first on every server, call this, and remove the old key a day after it is finished.",
    answers: { ...resealAnswers, 409: "They are being moved already." },
    perform: async (context) => (isOperator(context) ? beginReseal(await clientContext(context)) : forbidden),
    show: ({ shown }) => shownReseal(shown),
  }),
  listOperation("GET /admin/reseals", {
    id: "listReseals",
    role,
    summary: "List moves of stored secrets, newest first",
    item: reseal,
    counts: "Number of moves in the last 30 days.",
    async list(context, { page }) {
      if (!isOperator(context)) return forbidden;
      const { shown, total } = await listReseals(context, page);
      return { items: shown.map(shownReseal), total };
    },
  }),
  adminOperation("GET /admin/reseals/{id}", {
    id: "getReseal",
    role,
    summary: "Find out how far a move of stored secrets is",
    answers: resealAnswers,
    perform: async (context, { params }) =>
      isOperator(context) ? showReseal(context, params.id) : forbidden,
    show: ({ shown }) => shownReseal(shown),
  }),
  adminOperation("DELETE /admin/reseals/{id}", {
    id: "cancelReseal",
    role,
    summary: "Cancel a move of stored secrets",
    description: "What was moved stays under the first key. A second call has no effect.",
    answers: { ...resealAnswers, 409: "It has ended." },
    perform: async (context, { params }) =>
      isOperator(context) ? cancelReseal(await clientContext(context), params.id) : forbidden,
    show: ({ shown }) => shownReseal(shown),
  }),
];
