import { z } from "zod";
import { blockUser, unblockUser } from "../../admin/user-blocking.ts";
import { listUsers, MAX_SEARCH_RESULTS } from "../../admin/user-list.ts";
import { listLoginMethods, loginMethodsSchema } from "../../admin/user-login-methods.ts";
import { createAdminUser, deleteAdminUser, updateAdminUser } from "../../admin/users.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { userObjectSchema } from "../../objects/user-object.ts";
import { csv, instant, uuid } from "../table/fields.ts";
import { adminOperation, changeOperation, listOperation, userOperation } from "./admin-operation.ts";

const user = { schema: userObjectSchema };

const part = () => z.string().trim().max(256).optional();

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

/** Users. */
export const userAddresses = [
  listOperation("GET /admin/users", {
    id: "listUsers",
    summary: "List users by the time of their creation",
    description: `All conditions must hold. A search by \`email\` or \`username\` finds ${MAX_SEARCH_RESULTS.toLocaleString("en")} users at most.`,
    query: {
      email: part().describe("A part of an email."),
      username: part().describe("A part of the username."),
      user_id: csv(uuid()).optional().describe("Ids, repeated or separated by commas."),
      sort_direction: z.enum(["asc", "desc"]).default("desc"),
    },
    item: userObjectSchema,
    counts: "Number of matching users.",
    async list({ runtime, tenant }, { query, page }) {
      const { users, total } = await heavyRead(runtime.database.read, () =>
        listUsers(
          { runtime, tenant },
          // A parameter that is there without an id matches no user; it must not list all of them.
          { email: query.email || undefined, username: query.username || undefined, ids: query.user_id },
          { offset: (page.number - 1) * page.size, limit: page.size, order: query.sort_direction },
        ),
      );
      return { items: users, total };
    },
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
