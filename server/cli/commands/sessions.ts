import { endUserSession, listUserSessions } from "../../admin/user-sessions.ts";
import { describeUserAgent } from "../../lib/user-agent.ts";
import { isMadeByOperator } from "../../objects/session.ts";
import { sessionObject } from "../../objects/session-object.ts";
import { atTenant } from "../at-tenant.ts";
import { CommandError, command, missing } from "../command.ts";
import { findUser, NAMED_BY } from "../find-user.ts";
import { idOf, jsonOption, limitOption, pageOf, pageOption, tenantOption } from "../options.ts";
import { printTable } from "../table.ts";

export const sessionsList = command({
  name: "sessions list",
  summary: "List the sessions of a user, newest first.",
  details: NAMED_BY,
  takes: ["user"],
  options: { tenant: tenantOption, limit: limitOption, page: pageOption, json: jsonOption },
  async run(cli, values, [name = ""]) {
    const { size, number } = pageOf(values);
    await atTenant(cli, values.tenant, async (at) => {
      const listed = await listUserSessions(at, await findUser(at, name));
      if (!listed.ok) throw missing("user", name);
      const shown = listed.sessions.slice((number - 1) * size, number * size);
      const sessions = shown.map((session) => ({
        ...sessionObject(session),
        created_by: isMadeByOperator(session) ? "administrator" : "user",
      }));
      if (values.json) return cli.print(JSON.stringify(sessions));
      await printTable(cli, sessions, {
        id: "id",
        created: "created_at",
        "last used": "last_used",
        expires: "expires_at",
        address: "ip_address",
        browser: ({ user_agent }) => (user_agent === null ? "-" : describeUserAgent(user_agent)),
        "created by": "created_by",
      });
    });
  },
});

export const sessionsEnd = command({
  name: "sessions end",
  summary: "End a session of a user: its token is rejected from then on.",
  details: `${NAMED_BY}\nstile sessions list prints the ids of sessions; stile users sign-out ends all of a user.`,
  takes: ["user", "session_id"],
  options: { tenant: tenantOption, json: { description: "The id of the session, as JSON." } },
  async run(cli, values, [name = "", session = ""]) {
    await atTenant(cli, values.tenant, async (at) => {
      const userId = await findUser(at, name);
      const id = idOf(session);
      if (!id || !(await endUserSession(at, userId, id)).ok)
        throw new CommandError(`${name} has no session ${session}`);
      await cli.print(values.json ? JSON.stringify({ ended: id }) : `ended ${id}`);
    });
  },
});
