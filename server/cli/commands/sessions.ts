import { endUserSession, listUserSessions } from "../../admin/user-sessions.ts";
import { currentTime } from "../../database/current-time.ts";
import { describeUserAgent } from "../../lib/user-agent.ts";
import { isUuid } from "../../lib/uuid.ts";
import { isMadeByOperator } from "../../objects/session.ts";
import { sessionObject } from "../../objects/session-object.ts";
import { limitOption, pageOf, pageOption } from "../bounds.ts";
import { CommandError, command } from "../command.ts";
import { findTenant } from "../find-tenant.ts";
import { findUser, NAMED_BY } from "../find-user.ts";
import { asOperator } from "../operator.ts";
import { table } from "../table.ts";

const tenant = { description: "Id of the tenant; by default the default tenant.", value: "id" } as const;

export const sessionsList = command({
  name: "sessions list",
  summary: "List the sessions of a user, newest first.",
  details: NAMED_BY,
  takes: ["user"],
  options: { tenant, limit: limitOption, page: pageOption, json: { description: "As JSON." } },
  async run(cli, values, [name = ""]) {
    const { size, number } = pageOf(values);
    await cli.withRuntime(async (runtime) => {
      const of = await findTenant(runtime, values.tenant);
      const context = asOperator(runtime, of, await currentTime(runtime));
      const listed = await listUserSessions(context, await findUser(runtime, of, name));
      if (!listed.ok) throw new CommandError(`there is no user ${name}`);
      const shown = listed.sessions.slice((number - 1) * size, number * size);
      const sessions = shown.map((session) => ({
        ...sessionObject(session),
        created_by: isMadeByOperator(session) ? "administrator" : "user",
      }));
      if (values.json) return cli.print(JSON.stringify(sessions));
      const rows = sessions.map((session) => [
        session.id,
        session.created_at,
        session.last_used,
        session.expires_at,
        session.ip_address ?? "-",
        session.user_agent === null ? "-" : describeUserAgent(session.user_agent),
        session.created_by,
      ]);
      const heads = ["id", "created", "last used", "expires", "address", "browser", "created by"];
      for (const line of table(heads, rows)) await cli.print(line);
    });
  },
});

export const sessionsEnd = command({
  name: "sessions end",
  summary: "End a session of a user: its token is rejected from then on.",
  details: `${NAMED_BY}\nstile sessions list prints the ids of sessions; stile users sign-out ends all of a user.`,
  takes: ["user", "session_id"],
  options: { tenant, json: { description: "The id of the session, as JSON." } },
  async run(cli, values, [name = "", sessionId = ""]) {
    const ended = await cli.withRuntime(async (runtime) => {
      const of = await findTenant(runtime, values.tenant);
      const userId = await findUser(runtime, of, name);
      const context = asOperator(runtime, of, await currentTime(runtime));
      return isUuid(sessionId) && (await endUserSession(context, userId, sessionId.toLowerCase())).ok;
    });
    if (!ended) throw new CommandError(`${name} has no session ${sessionId}`);
    await cli.print(values.json ? JSON.stringify({ ended: sessionId.toLowerCase() }) : `ended ${sessionId}`);
  },
});
