import type { Fault } from "../fault.ts";

/** Faults of events and webhooks. */
export const eventFaults: readonly Fault[] = [
  {
    name: "a webhook gets events of which its subscription is no whole segment",
    file: "server/events/subscriptions.ts",
    text: "where s ->> 'event' = any(",
    fault: "where starts_with(i.name, s ->> 'event') or s ->> 'event' = any(",
    caughtBy: ["server/events/emit.test.ts"],
  },
  {
    name: "the event of a mail is emitted again with every attempt",
    file: "server/events/write-records.ts",
    text: "on conflict do nothing",
    fault: "on conflict (tenant_id, id) do update set name = excluded.name",
    caughtBy: ["server/mail/mail-events.test.ts"],
  },
  {
    name: "a webhook posts to a private address that its callback names",
    file: "server/webhooks/receiver-client.ts",
    text: "const judged = judgeCallback(request.callback, { allowPrivate });",
    fault: "const judged = judgeCallback(request.callback, { allowPrivate: true });",
    caughtBy: ["server/webhooks/receiver-client.test.ts"],
  },
  {
    name: "a webhook posts to a private address that its name resolves to",
    file: "server/webhooks/receiver-client.ts",
    text: "if (!addresses.every(({ address }) => isAllowed(address)))",
    fault: "if (addresses.length > 1 && !addresses.every(({ address }) => isAllowed(address)))",
    caughtBy: ["server/webhooks/receiver-client.test.ts"],
  },
  {
    name: "a webhook posts to a name that resolves to public and private addresses",
    file: "server/webhooks/receiver-client.ts",
    text: "if (!addresses.every(({ address }) => isAllowed(address)))",
    fault: "if (!addresses.some(({ address }) => isAllowed(address)))",
    caughtBy: ["server/webhooks/receiver-client.test.ts"],
  },
  {
    name: "two events of a user are on their way to a webhook at once",
    file: "server/webhooks/claim.ts",
    text: "and e.sequence < d.sequence and e.state",
    fault: "and e.sequence > d.sequence and e.state",
    caughtBy: ["server/webhooks/webhook-delivery.test.ts"],
  },
  {
    name: "a process writes the result of a delivery that another one took over",
    file: "server/webhooks/results.ts",
    text: "where d.state || '' = 'waiting' and d.claimed_until = r.claimed_until",
    fault: "where d.state || '' = 'waiting'",
    caughtBy: ["server/webhooks/webhook-delivery.test.ts"],
  },
  {
    name: "a webhook is disabled without an audit entry",
    file: "server/webhooks/results.ts",
    text: "select * from disabled where ${",
    fault: "select * from disabled where not ${",
    caughtBy: ["server/http/admin/webhooks.test.ts"],
  },
  {
    name: "a tenant stores webhooks without a limit",
    file: "server/webhooks/stored-webhooks.ts",
    text: ">= MAX_WEBHOOKS) return null;",
    fault: ">= 2 * MAX_WEBHOOKS) return null;",
    caughtBy: ["server/http/admin/webhooks.test.ts"],
  },
  {
    name: "a webhook added since a mail was caused never gets it",
    file: "server/mail/send-mail.ts",
    text: "{ unheard: unheard && isFirst }",
    fault: "{ unheard }",
    caughtBy: ["server/mail/mail-events.test.ts"],
  },
  {
    name: "a webhook of the configuration gets no mail of a tenant without stored ones",
    file: "server/events/mail-events.ts",
    text: 'subscribedConfigWebhooks(tenant, "email.send").length > 0',
    fault: "false",
    caughtBy: ["server/mail/mail-events.test.ts"],
  },
  {
    name: "a mail is taken for unheard although the tenant has webhooks",
    file: "server/credentials/passcodes.ts",
    text: "unheard: isHeard === false",
    fault: "unheard: true",
    caughtBy: ["server/flow/scenarios/events.test.ts"],
  },
];
