import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { messageFacts } from "../../audit/message-records.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { testJobs } from "../../testing/jobs.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);
const { userId, addresses } = await accountOwner(runtime);
const [address = ""] = addresses;
const flow = randomUUID();

/** What the worker of mails and a step have written. */
const entry = (
  minute: number,
  type: string,
  channel: "mail" | "sms",
  kind: string,
  to: string,
  details: object,
) => ({
  tenantId: runtime.tenant.id,
  id: randomUUID(),
  type,
  userId: to === address ? userId : null,
  requestId: `request-${minute}`,
  details: { ...messageFacts(runtime.vault, runtime.tenant.id, channel, kind, to), ...details },
  createdAt: new Date(Date.UTC(2026, 0, 1, 12, minute)),
});
await runtime.database.write.delete(schema.auditLogs);
await runtime.database.write
  .insert(schema.auditLogs)
  .values([
    entry(1, "mail_queued", "mail", "login", address, { flow }),
    entry(2, "mail_accepted", "mail", "login", address, { answer: "250 2.0.0 Ok", attempts: 1 }),
    entry(3, "mail_failed", "mail", "password_update", address, { reason: "expired", attempts: 3 }),
    entry(4, "mail_withheld", "mail", "login", "unknown@example.com", { reason: "no_address", flow }),
    entry(5, "sms_accepted", "sms", "login", "+4915112345678", { answer: "201", attempts: 1 }),
    { ...entry(6, "mail_queued", "mail", "login", address, {}), type: "user_blocked" },
  ]);

const minutes = async (query = "") => {
  const { status, body, headers } = await call("GET", `/messages?${query}`);
  expect(status).toBe(200);
  expect(headers.get("x-total-count")).toBe(String(body.length));
  return body.map(({ at }: { at: string }) => new Date(at).getUTCMinutes());
};

describe("the list of messages", () => {
  test("tells what became of each, with its recipient masked", async () => {
    const { body, text } = await call("GET", "/messages");
    expect(body.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      "accepted",
      "withheld",
      "failed",
      "accepted",
      "queued",
    ]);
    expect(body[4]).toEqual({
      id: expect.any(String),
      at: "2026-01-01T12:01:00.000Z",
      channel: "mail",
      outcome: "queued",
      kind: "login",
      recipient: expect.stringMatching(/^.….@/),
      user_id: userId,
      request_id: "request-1",
      flow_id: flow,
    });
    expect(body[3]).toMatchObject({ answer: "250 2.0.0 Ok", attempts: 1 });
    expect(body[2]).toMatchObject({ reason: "expired", attempts: 3 });
    expect(body[0]).toMatchObject({ channel: "sms", recipient: "+49…78" });
    expect(text).not.toContain(address);
    expect(text).not.toContain("4915112345678");
    expect(text).not.toContain("digest");
  });

  test.each([
    ["channel=sms", [5]],
    ["outcome=failed,withheld", [4, 3]],
    ["outcome=queued&channel=sms", []],
    ["kind=password_update", [3]],
    ["kind=charm", []],
    [`user_id=${userId}`, [3, 2, 1]],
    [`recipient=${encodeURIComponent(address.toUpperCase())}`, [3, 2, 1]],
    ["recipient=unknown@example.com", [4]],
    ["recipient=%2B49%20151%2012345678", [5]],
    ["recipient=other@example.com", []],
    ["start_time=2026-01-01T12:03:00Z", [5, 4]],
    ["start_time=2026-01-01T12:01:00Z&end_time=2026-01-01T12:03:00Z", [2]],
    ["per_page=100&page=2", []],
  ])("filtered by %s has these", async (query, found) => {
    if (query.startsWith("per_page")) expect((await call("GET", `/messages?${query}`)).body).toEqual([]);
    else expect(await minutes(query)).toEqual(found);
  });

  test.each([
    "channel=fax",
    "outcome=lost",
    "kind=",
    "user_id=1",
    "recipient=",
    "start_time=now",
    `recipient=${"a".repeat(257)}`,
  ])("rejects %s", async (query) => {
    expect((await call("GET", `/messages?${query}`)).status).toBe(400);
  });
});

test("a mail that is queued by a request and accepted by the worker is listed twice, under one request", async () => {
  const jobs = testJobs({
    database: runtime.database,
  });
  await jobs.start({ worker: false });
  const job = { ...mailJob(), to: address };
  const client = { ip: "192.0.2.7", userAgent: "Test", requestId: "request-of-a-step" };
  await runtime.database.write.transaction((tx) =>
    jobs.enqueue(tx, job, { client, now: new Date(), flowId: flow, userId }),
  );
  await jobs.runDue(5);
  await jobs.stop();
  const { body } = await call("GET", `/messages?user_id=${userId}&start_time=2026-01-02T00:00:00Z`);
  expect(body).toMatchObject([
    { outcome: "accepted", request_id: "request-of-a-step", kind: "login" },
    { outcome: "queued", request_id: "request-of-a-step", kind: "login", flow_id: flow },
  ]);
});

const mailJob = () => ({
  name: "send_mail" as const,
  tenantId: runtime.tenant.id,
  language: "en" as const,
  mail: { type: "login" as const, code: "482913", ttlSeconds: 300 },
});
