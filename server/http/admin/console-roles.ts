import { z } from "zod";
import { rejectAdmin } from "../../admin/rejections.ts";
import {
  type Grant,
  type GrantRefusal,
  grantRole,
  listGrants,
  MAX_GRANTS,
  revokeRole,
} from "../../console/grants.ts";
import { consoleRoles, mayAs, roleMeanings } from "../../identity/console-roles.ts";
import { clientContext } from "../table/handler-context.ts";
import { adminOperation, changeOperation, NOT_FOUND } from "./admin-operation.ts";

const role = z
  .enum(consoleRoles)
  .describe(consoleRoles.map((name) => `\`${name}\`: ${roleMeanings[name]}`).join(" "));

const grant = z.strictObject({
  user_id: z.guid(),
  email: z.string().nullable().describe("The primary address."),
  role,
  created_at: z.iso.datetime({ precision: 3 }),
}) satisfies z.ZodType<Grant>;

const refusals: Record<GrantRefusal, ReturnType<typeof rejectAdmin>> = {
  not_found: rejectAdmin("not_found", "Not found."),
  forbidden: rejectAdmin("forbidden", "The role of the account is stronger than your own."),
  operator_of_tenant: rejectAdmin("invalid", "`operator` is a role of the default tenant."),
  too_many: rejectAdmin("conflict", `At most ${MAX_GRANTS} accounts of a tenant have a role.`),
};

/** Who may enter the console. */
export const consoleRoleAddresses = [
  adminOperation("GET /admin/console/roles", {
    id: "listConsoleRoles",
    summary: "List the accounts that have a role of the console, oldest first",
    description: "Without those that the configuration gives a role (`console.roles`).",
    answers: { 200: { schema: z.array(grant) } },
    perform: ({ runtime, tenant }) => listGrants(runtime, tenant),
  }),
  adminOperation("PUT /admin/users/{id}/console_role", {
    id: "setConsoleRole",
    summary: "Give an account a role of the console",
    body: z.object({ role }),
    answers: {
      204: "The account has the role.",
      403: "An account of the console gives no role that is stronger than its own.",
      409: "Too many accounts have a role.",
    },
    async perform(context, { params, body }) {
      const { visitor } = context;
      if (visitor && !mayAs(visitor.role, body.role))
        return rejectAdmin("forbidden", "Your own role is weaker.");
      const refused = await grantRole(await clientContext(context), params.id, body.role);
      return refused === null ? true : refusals[refused];
    },
  }),
  changeOperation("DELETE /admin/users/{id}/console_role", {
    id: "deleteConsoleRole",
    summary: "Take the role of the console from an account",
    description: "It is out of the console at once.",
    answers: { 204: "The account has no role.", 404: NOT_FOUND },
    async perform(context, { params }) {
      const refused = await revokeRole(context, params.id);
      return refused === null ? true : refusals[refused];
    },
  }),
];
