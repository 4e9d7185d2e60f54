import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import type { Jobs } from "../jobs/jobs.ts";
import type { Job } from "../runtime.ts";
import { authenticatorApplication } from "../testing/authenticator-application.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { testRuntime } from "../testing/runtime.ts";
import { signatureHeaders } from "./push.ts";
import type { PushJob } from "./push-job.ts";

let heard: { incoming: IncomingMessage; body: string }[] = [];
let answers: { status: number; headers?: Record<string, string> }[] = [];

const db = await openForTests(testDatabase());
const service = await openForTests(
  createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    heard.push({ incoming, body });
    const { status, headers = {} } = answers.shift() ?? { status: 204 };
    outgoing.writeHead(status, headers).end("thank you");
  }),
);
service.listen(0);
await once(service, "listening");
const url = `http://localhost:${(service.address() as AddressInfo).port}/wake`;

let jobs: (Jobs<Job> & { logged: string[] }) | undefined;
afterEach(async () => {
  await jobs?.stop();
  await db.database.write.execute(sql`delete from pgboss.job`);
  [jobs, heard, answers] = [undefined, [], []];
});

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const job: PushJob = {
  name: "push_authenticator_request",
  tenantId: "00000000-0000-4000-8000-000000000001",
  requestId: "a".repeat(44),
  operation: "AUTH",
  url: `https://login.example/authenticator/v1/uaf/requests/${"a".repeat(44)}?token=the-token-of-the-authenticator`,
  pushTokens: ["push-token-1", "push-token-2"],
  validUntil: "2030-01-01T12:00:00.000Z",
  lifetimeSeconds: 120,
};

async function send(settings: Record<string, string>, work: PushJob = job): Promise<void> {
  const started = testJobs(db, settings);
  jobs = started;
  await started.start({ worker: false });
  await db.database.write.transaction((tx) => started.enqueue(tx, work, null));
}

const rows = async () =>
  (
    await db.database.write.execute<{ state: string; text: string }>(
      sql`select state, job::text as text from pgboss.job where name <> 'dead_letters'`,
    )
  ).rows;

describe("the push job", () => {
  test("posts the request and the push tokens, signed", async () => {
    await send({ STILE_AUTHENTICATOR_PUSH_URL: url, STILE_AUTHENTICATOR_PUSH_SECRET: secret });
    expect(await jobs?.runDue(5)).toBe(1);
    const [call] = heard;
    const { requestId, operation, pushTokens, validUntil } = job;
    expect(JSON.parse(call?.body ?? "")).toEqual({
      requestId,
      operation,
      url: job.url,
      pushTokens,
      validUntil,
    });
    expect(call?.incoming).toMatchObject({ method: "POST", url: "/wake" });
    const headers = call?.incoming.headers ?? {};
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${call?.body}`;
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    expect(headers["webhook-signature"]).toBe(
      `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    );
    expect(await rows()).toEqual([]);
  });

  test("signs nothing without a secret", async () => {
    await send({ STILE_AUTHENTICATOR_PUSH_URL: url });
    await jobs?.runDue(5);
    expect(heard[0]?.incoming.headers).not.toHaveProperty("webhook-signature");
  });

  test("A78 stores tokens sealed, and logs none", async () => {
    await send({ STILE_AUTHENTICATOR_PUSH_URL: url });
    const [waiting] = await rows();
    answers = [{ status: 500 }];
    await jobs?.runDue(5);
    const [failed] = await rows();
    for (const text of [waiting?.text, failed?.text, jobs?.logged.join("")])
      for (const token of ["the-token-of-the-authenticator", ...job.pushTokens])
        expect(text).not.toContain(token);
  });

  test.each([{ status: 500 }, { status: 404 }, { status: 302, headers: { location: "/elsewhere" } }])(
    "is retried after %j, and follows no redirect",
    async (answer) => {
      answers = [answer];
      await send({ STILE_AUTHENTICATOR_PUSH_URL: url });
      await jobs?.runDue(5);
      expect(await rows()).toMatchObject([{ state: "retry" }]);
      expect(heard).toHaveLength(1);
      await db.database.write.execute(sql`update pgboss.job set start_after = now() - interval '1 second'`);
      await jobs?.runDue(5);
      expect(heard.map(({ incoming }) => incoming.url)).toEqual(["/wake", "/wake"]);
      const ids = heard.map(({ body }) => JSON.parse(body).requestId);
      expect(new Set(ids).size).toBe(1);
    },
  );

  test("does nothing if no push address is configured any more", async () => {
    await send({});
    expect(await jobs?.runDue(5)).toBe(1);
    expect([await rows(), heard]).toEqual([[], []]);
  });
});

test("signatures are those of Standard Webhooks", () => {
  // The example of the specification's reference libraries.
  expect(
    signatureHeaders(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}', 1614265330),
  ).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

describe("a push", () => {
  test("is sent for a request that its device can answer, if a push address is configured", async () => {
    const runtime = await testRuntime({
      BASE_URL: "https://login.example",
      PORT: "3000",
      STILE_AUTHENTICATOR_PUSH_URL: url,
    });
    const application = await authenticatorApplication(runtime);
    const userId = randomUUID();
    const one = await application.enroll(userId, {}, { pushToken: "push-1" });
    await application.enroll(userId, {}, { pushToken: "push-2" });
    await application.enroll(userId);
    expect(runtime.pushed).toEqual([]);
    const asked = await application.create("AUTH", userId);
    expect(runtime.pushed).toMatchObject([
      { requestId: asked.id, pushTokens: ["push-1", "push-2"], lifetimeSeconds: 120 },
    ]);
    const link = new URL(runtime.pushed[0]?.url ?? "");
    const { status, body } = await application.call("GET", link.href, {
      authorization: `device ${link.searchParams.get("token")}`,
    });
    expect([status, body.id]).toEqual([200, asked.id]);
    await application.create("AUTH", userId, { deviceIds: [one.deviceId] });
    expect(runtime.pushed[1]?.pushTokens).toEqual(["push-1"]);
    await application.create("DEREG", userId);
    await application.create("AUTH", userId);
    expect(runtime.pushed).toHaveLength(2);
    await runtime.close();
  });
});
