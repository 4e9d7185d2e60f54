import { type GrantRefusal, grantRole, listGrants, MAX_GRANTS, revokeRole } from "../../console/grants.ts";
import { firstOperatorLink } from "../../console/invitations.ts";
import { currentTime } from "../../database/current-time.ts";
import { type ConsoleRole, consoleRoles, roleMeanings } from "../../identity/console-roles.ts";
import { atTenant } from "../at-tenant.ts";
import { CommandError, command, missing } from "../command.ts";
import { findUser, NAMED_BY } from "../find-user.ts";
import { jsonOption, nameOf, tenantOption } from "../options.ts";
import { printTable } from "../table.ts";

const refusals: Record<Exclude<GrantRefusal, "not_found">, string> = {
  forbidden: "an account of the console changes no account with a stronger role",
  operator_of_tenant: "operator is a role of the default tenant: a tenant has administrators",
  too_many: `at most ${MAX_GRANTS} accounts of a tenant have a role`,
};

export const consoleGrant = command({
  name: "console grant",
  summary: "Give an account a role of the console.",
  details: [
    `Roles: ${consoleRoles.join(", ")}. Each may do what those before it may.`,
    ...consoleRoles.map((role) => `${role}: ${roleMeanings[role]}`),
    NAMED_BY,
  ].join("\n"),
  takes: ["user", "role"],
  options: { tenant: tenantOption, json: { description: "The account and its role, as JSON." } },
  async run(cli, values, [name = "", named = ""]) {
    const role: ConsoleRole = nameOf(named, consoleRoles, "a role");
    await atTenant(cli, values.tenant, async (at) => {
      const userId = await findUser(at, name);
      const refused = await grantRole(at, userId, role);
      if (refused === "not_found") throw missing("user", name);
      if (refused) throw new CommandError(refusals[refused]);
      await cli.print(values.json ? JSON.stringify({ user_id: userId, role }) : `${userId} is ${role}`);
    });
  },
});

export const consoleRevoke = command({
  name: "console revoke",
  summary: "Take the role of the console from an account, which is out of it at once.",
  details: NAMED_BY,
  takes: ["user"],
  options: { tenant: tenantOption, json: { description: "The id of the account, as JSON." } },
  async run(cli, values, [name = ""]) {
    await atTenant(cli, values.tenant, async (at) => {
      const userId = await findUser(at, name);
      if ((await revokeRole(at, userId)) !== null)
        throw new CommandError(`${name} has no role of the console`);
      await cli.print(values.json ? JSON.stringify({ user_id: userId }) : `${userId} has no role`);
    });
  },
});

export const consoleList = command({
  name: "console list",
  summary: "List the accounts of a tenant that have a role of the console.",
  details: "Without those that the configuration gives a role (console.roles).",
  options: { tenant: tenantOption, json: jsonOption },
  async run(cli, values) {
    const grants = await atTenant(cli, values.tenant, ({ runtime, tenant }) => listGrants(runtime, tenant));
    if (values.json) return cli.print(JSON.stringify(grants));
    await printTable(cli, grants, {
      user: "user_id",
      email: "email",
      role: "role",
      since: "created_at",
    });
  },
});

export const consoleLink = command({
  name: "console link",
  summary: "Print a link by which the first operator enters the console.",
  details: "It is valid for ten minutes, once, and only while there is no operator.",
  options: { json: { description: "The link, as JSON." } },
  async run(cli, { json }) {
    const link = await cli.withRuntime(async (runtime) =>
      firstOperatorLink(runtime, await currentTime(runtime)),
    );
    if (link === null)
      throw new CommandError("there is an operator, or the console is off: see stile console list");
    await cli.print(json ? JSON.stringify({ link }) : link);
  },
});
