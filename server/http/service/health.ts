import { z } from "zod";
import { notReadyReasons } from "../../database/readiness.ts";
import { type ChannelName, channelNames, channels } from "../../messages/channels.ts";
import { outageOf, serverOf } from "../../messages/outages.ts";
import { presentedAdminKey } from "../admin/admin-key.ts";
import { json } from "../answer/reply.ts";
import { RETRY_AFTER_SECONDS } from "../answer/temporary-failure.ts";
import { address } from "../table/address.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";

/** `GET /health/alive`: the process answers. */
const aliveHandler: Handler = () => json(200, { alive: true });

/**
 * `GET /health/ready`: the database takes writes; 503 with the reason while it does not. Mails and SMS are no reason: a
 * server without its mail server signs in all who need no code, and to take it out of a balancer would help no user.
 */
const readyHandler: Handler = async (context) => {
  const { runtime } = context;
  const verdict = await runtime.readiness.check();
  if (verdict.ok) return json(200, { ready: true, ...(await messageStates(context)) });
  const { reason, error } = verdict;
  runtime.log.warn({ err: error, reason }, "not ready: no login can succeed");
  return json(503, { ready: false, reason }, { headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } });
};

/** Whether mails and SMS are accepted, for callers with a key of the administration interface. */
async function messageStates(context: HandlerContext): Promise<Omit<z.output<typeof ready>, "ready">> {
  if (!(await presentedAdminKey(context))) return {};
  const used = channelNames.filter((name) => channels[name].isUsed(context.tenant.config));
  const states = await Promise.all(used.map((name) => stateOf(context, name)));
  return Object.assign({}, ...states);
}

async function stateOf({ runtime, tenant }: HandlerContext, channel: ChannelName) {
  const outage = await outageOf(runtime.database.read, channel, serverOf(channel, tenant, runtime.tenant));
  if (!outage) return { [channel]: "ok" };
  const { since, lastFailedAt, failure } = outage;
  return {
    [channel]: `failing since ${since.toISOString()}`,
    [`${channel}_failure`]: failure,
    [`${channel}_last_failed_at`]: lastFailedAt.toISOString(),
  };
}

const state = z.string().regex(/^(ok|failing since .+)$/);
const failedAt = z.iso.datetime({ precision: 3 });

const ready = z.strictObject({
  ready: z.literal(true),
  mail: state
    .optional()
    .describe(
      "For calls with a key of the administration interface: `ok`, or `failing since` and the time of the first attempt that failed.",
    ),
  mail_failure: z.string().optional().describe("What the last attempt failed with."),
  mail_last_failed_at: failedAt.optional(),
  sms: state.optional().describe("The same of SMS, if accounts may have telephone numbers."),
  sms_failure: z.string().optional().describe("What the last attempt failed with."),
  sms_last_failed_at: failedAt.optional(),
});
const notReady = z.strictObject({ ready: z.literal(false), reason: z.enum(notReadyReasons) });

/** Whether the process answers and its database takes writes, for balancers and orchestrators. */
export const healthAddresses = [
  described(address("GET", "/health/alive", aliveHandler, "plain", "public"), {
    id: "getAlive",
    summary: "Whether the process answers",
    tag: "service",
    answers: { 200: { schema: z.strictObject({ alive: z.literal(true) }) } },
  }),
  described(address("GET", "/health/ready", readyHandler, "plain", "public"), {
    id: "getReady",
    summary: "Whether the database takes writes",
    description:
      "Stays 200 while mails or SMS cannot be sent. A call with a key of the administration interface (`Authorization: Bearer <key>`) is told whether they can.",
    tag: "service",
    answers: { 200: { schema: ready }, 503: { schema: notReady } },
  }),
];
