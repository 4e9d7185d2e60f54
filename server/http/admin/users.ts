import { z } from "zod";
import { languageTags } from "#words/language-tags";
import { previewDeletion } from "../../account/deletion-preview.ts";
import { notFound } from "../../admin/rejections.ts";
import { blockUser, unblockUser } from "../../admin/user-blocking.ts";
import { exportFormats, exportListedUsers, recordExport } from "../../admin/user-export.ts";
import {
  listUsers,
  MAX_SEARCH_RESULTS,
  type UserFilter,
  userCursor,
  userOrders,
} from "../../admin/user-list.ts";
import { listLoginMethods, loginMethodsSchema } from "../../admin/user-login-methods.ts";
import { offerRecovery } from "../../admin/user-recovery.ts";
import { createAdminUser, deleteAdminUser, updateAdminUser } from "../../admin/users.ts";
import { changeUsers, userActions } from "../../admin/users-at-once.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { methodNames } from "../../methods/index.ts";
import { userObjectSchema } from "../../objects/user-object.ts";
import { csv, instant, uuid } from "../table/fields.ts";
import { requestContextOf } from "../table/handler-context.ts";
import {
  adminOperation,
  adminRow,
  changeOperation,
  listOperation,
  statuses,
  userOperation,
} from "./admin-operation.ts";
import { streamed } from "./streamed.ts";

const user = { schema: userObjectSchema };

const part = () => z.string().trim().max(256).optional();

/** A whole value that is compared as it is. */
const exact = () => z.string().min(1).max(1024).optional();

/** A text of one line, or null, which clears it. */
const line = () =>
  z
    .string()
    .min(1)
    .max(256)
    .refine((text) => !/\p{Cc}/u.test(text), "must be one line")
    .nullish();

const picture = () =>
  z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .nullish()
    .describe("Address of a picture. It replaces one that the user uploaded.");

const newEmail = z.strictObject({
  address: z.string().max(1024),
  is_primary: z.boolean().default(false),
  is_verified: z.boolean().default(false),
});

/** Which users, as queries of lists and of exports say it. */
const userFilters = {
  q: part().describe(
    "An id, phone number or identifier at a provider in full, or the beginning of an email, a username, a name or a family name. An index serves it, in contrast to the searches by a part.",
  ),
  email: part().describe("A part of an email."),
  username: part().describe("A part of the username."),
  name: part().describe("A part of the name."),
  phone_number: z.string().trim().max(64).optional().describe("The phone number, in the international form."),
  user_id: csv(uuid()).optional().describe("Ids, repeated or separated by commas."),
  provider: exact().describe("Users linked to this identity provider, as `provider_name` of identities."),
  provider_subject: exact().describe(
    "The identifier of the user at a provider, as `provider_id` of identities.",
  ),
  blocked: z.boolean().optional(),
  verified: z.boolean().optional().describe("Whether an email of the user is verified."),
  method: csv(z.enum(methodNames)).optional().describe("Methods that the user has, all of them."),
  created_after: instant().optional().describe("Only users created later."),
  created_before: instant().optional().describe("Only users created earlier."),
  last_sign_in_after: instant().optional().describe("Only users whose last sign-in was later."),
  last_sign_in_before: instant().optional().describe("Only users whose last sign-in was earlier."),
};

const filterQuery = z.object(userFilters);

const exportQuery = z.object({ ...userFilters, format: z.enum(exportFormats).default("jsonl") });

/** Users that one request changes. */
const MAX_USERS_AT_ONCE = 500;

/** Converts parameters of a query. A text that is empty is no condition. */
function userFilterOf(query: z.output<typeof filterQuery>): UserFilter {
  return {
    text: query.q || undefined,
    email: query.email || undefined,
    username: query.username || undefined,
    name: query.name || undefined,
    phone: query.phone_number || undefined,
    // A parameter that is there without an id matches no user; it must not list all of them.
    ids: query.user_id,
    provider: query.provider,
    subject: query.provider_subject,
    isBlocked: query.blocked,
    isVerified: query.verified,
    methods: query.method,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    lastSignInAfter: query.last_sign_in_after,
    lastSignInBefore: query.last_sign_in_before,
  };
}

/** Users. */
export const userAddresses = [
  listOperation("GET /admin/users", {
    id: "listUsers",
    summary: "List users by the time of their creation or of their last sign-in",
    description: `All conditions must hold. A search or filter finds ${MAX_SEARCH_RESULTS.toLocaleString("en")} users at most. \`page\` counts from the first user, and takes the longer the further it is; with \`after\` the link to the next page continues after the last user of this one, at the same cost everywhere.`,
    query: {
      ...userFilters,
      sort_by: z
        .enum(userOrders)
        .default("created_at")
        .describe("Users who have not signed in are the earliest."),
      sort_direction: z.enum(["asc", "desc"]).default("desc"),
      after: z
        .string()
        .max(64)
        .regex(userCursor)
        .optional()
        .describe("Empty for the first page; others are taken from `Link`. `page` does not count then."),
    },
    item: userObjectSchema,
    counts: "Number of matching users.",
    async list({ runtime, tenant }, { query, page }) {
      const { after, sort_by: by, sort_direction: order } = query;
      const { users, total, next } = await heavyRead(runtime.database.read, () =>
        listUsers({ runtime, tenant }, userFilterOf(query), {
          by,
          order,
          limit: page.size,
          ...(after === undefined ? { offset: (page.number - 1) * page.size } : { after }),
        }),
      );
      return { items: users, total, ...(after === undefined ? {} : { next }) };
    },
  }),
  adminRow("GET /admin/users/export", {
    id: "exportUsers",
    summary: "Export users as lines of JSON or as CSV, the oldest first",
    description:
      "Those that a list with the same conditions has, without its bound, and who were created before the request. Hashes and secrets are not among what is exported: `stile users export` has them. In CSV a cell that begins with `=`, `+`, `-` or `@` gets an apostrophe in front, so that no program computes it; each export has an entry in the audit log. An answer that breaks off is incomplete.",
    query: exportQuery,
    answers: { 200: { schema: z.string(), mediaType: "application/jsonl" } },
    async handler(context, { query: { format, ...query } }) {
      const { runtime, tenant, request } = context;
      const now = await requestContextOf(context);
      if (request.method !== "HEAD") await recordExport(now, format);
      const users = exportListedUsers({ runtime, tenant }, userFilterOf(query), { format, before: now.now });
      return streamed(context, users, {
        what: "users",
        file: `users.${format}`,
        mediaType: format === "csv" ? "text/csv" : "application/jsonl",
      });
    },
  }),
  changeOperation("POST /admin/users/bulk", {
    id: "actOnUsers",
    concerns: ({ body }) => [(body as { user_ids?: unknown }).user_ids].flat(),
    summary: "Block, unblock, sign out or delete several users",
    description: `At most ${MAX_USERS_AT_ONCE}. Each is changed by itself, as by the operation on one user, and has its own entry in the audit log: what one of them does not allow does not keep the others from it. An id that occurs again counts once.`,
    body: z.strictObject({
      action: z.enum(userActions),
      user_ids: z.array(uuid()).min(1).max(MAX_USERS_AT_ONCE),
    }),
    answers: {
      200: {
        schema: z.strictObject({
          results: z.array(
            z.strictObject({
              user_id: z.guid(),
              status: z
                .int()
                .describe(
                  "That of the operation on this user: 200, 404, or 503 if an error kept it from being done.",
                ),
              message: z.string().optional().describe("Why the user was not changed."),
            }),
          ),
        }),
      },
    },
    perform: async (context, { body }) => ({
      results: await changeUsers(context, body.action, body.user_ids),
    }),
    show: ({ results }) => ({
      results: results.map(({ userId: user_id, verdict }) => {
        if (verdict === null) return { user_id, status: 503, message: "Try again." };
        if (verdict.ok) return { user_id, status: 200 };
        return { user_id, status: statuses[verdict.reason], message: verdict.message };
      }),
    }),
  }),
  changeOperation("POST /admin/users", {
    id: "createUser",
    summary: "Create a user",
    description: "With `emails`, of which exactly one has `is_primary`, or with `username`, or both.",
    body: z.strictObject({
      id: uuid().optional(),
      emails: z.array(newEmail).max(100).default([]),
      username: z.string().min(1).max(1024).optional(),
      created_at: instant().optional().describe("When the user was created elsewhere."),
    }),
    answers: { 200: user, 409: "A user of the tenant has the id, an email or the username." },
    perform: (context, { body }) => createAdminUser(context, body),
    show: ({ user }) => user,
  }),
  userOperation("GET /admin/users/{id}", {
    id: "getUser",
    summary: "Get a user",
    answers: { 200: user },
    part: (user) => user,
  }),
  adminOperation("GET /admin/users/{id}/login_methods", {
    id: "listUserLoginMethods",
    summary: "Find out why a user cannot sign in",
    description:
      "Each method with which the service lets users sign in, whether this user can use it, and what has decided that: the settings of the tenant, and what the account has.",
    answers: { 200: { schema: loginMethodsSchema } },
    perform: (context, { params }) => listLoginMethods(context, params.id),
    show: ({ found }) => found,
  }),
  changeOperation("PATCH /admin/users/{id}", {
    id: "updateUser",
    summary: "Change the profile of a user",
    description: "A text sets a field, null clears it, and an absent field stays.",
    body: z.strictObject({
      username: z.string().min(1).max(1024).nullish(),
      name: line(),
      given_name: line(),
      family_name: line(),
      picture: picture(),
      language: z
        .enum(languageTags)
        .nullish()
        .describe("Of mails. The next sign-in that names one replaces it."),
    }),
    answers: { 200: user, 409: "Another user has the username." },
    perform: (context, { params, body }) => updateAdminUser(context, params.id, body),
    show: ({ user }) => user,
  }),
  changeOperation("DELETE /admin/users/{id}", {
    id: "deleteUser",
    summary: "Delete a user",
    description: "With everything that belongs to it, its sessions first of all.",
    answers: { 204: "The user is deleted." },
    perform: (context, { params }) => deleteAdminUser(context, params.id),
  }),
  adminOperation("GET /admin/users/{id}/deletion", {
    id: "previewUserDeletion",
    summary: "Find out what the deletion of a user takes",
    answers: {
      200: {
        schema: z.strictObject({
          rows: z
            .record(z.string(), z.int())
            .describe("Rows that go, by table. Tables without one are absent."),
          remains: z.record(z.string(), z.string()).describe("What may be left of the account, by table."),
        }),
      },
    },
    async perform({ runtime, tenant }, { params }) {
      const found = await previewDeletion(runtime.database.read, tenant.id, params.id);
      return found.rows.users === undefined ? notFound : { found };
    },
    show: ({ found }) => found,
  }),
  changeOperation("POST /admin/users/{id}/recovery", {
    id: "offerUserRecovery",
    role: "support",
    summary: "Mail a user where to sign in again",
    description:
      "By a mailed code, or with a new password. The mail has neither: the user asks for a code on the page, so that it belongs to the user's browser. It goes to the verified primary email, three times in an hour at most.",
    answers: {
      204: "The mail is queued.",
      409: "The user is blocked or has no verified primary email, or the settings know no such way.",
      429: "The user has got too many such mails.",
    },
    perform: (context, { params }) => offerRecovery(context, params.id),
  }),
  changeOperation("POST /admin/users/{id}/block", {
    id: "blockUser",
    summary: "Block a user",
    description:
      "Ends the user's sessions, trusted browsers and unfinished sign-ins at once. A blocked user gets no session by any login method; the credentials stay. A second call changes nothing.",
    answers: { 200: user },
    perform: (context, { params }) => blockUser(context, params.id),
    show: ({ user }) => user,
  }),
  changeOperation("POST /admin/users/{id}/unblock", {
    id: "unblockUser",
    role: "support",
    summary: "End the block of a user",
    description: "The user can sign in again. A second call changes nothing.",
    answers: { 200: user },
    perform: (context, { params }) => unblockUser(context, params.id),
    show: ({ user }) => user,
  }),
];
