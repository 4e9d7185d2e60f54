import { randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const { auditLogs } = schema;

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
const application = await authenticatorApplication(runtime);

const requests = "/v1/uaf/requests";
const newUserId = () => `user ${randomUUID()}`;
const show = async (id: string) => (await application.call("GET", `${requests}/${id}`)).body;
const lines = (requestId: string) =>
  runtime.database.read
    .select()
    .from(auditLogs)
    .where(eq(sql`${auditLogs.details} ->> 'request_id'`, requestId));

describe("a request without an answer", () => {
  test("A70 expires, and stays invalidated", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const made = await application.create("AUTH", userId);
    runtime.advanceClock(119);
    expect((await show(made.id)).status).toBe("PENDING");
    runtime.advanceClock(1);
    const over = await show(made.id);
    expect(over).toMatchObject({
      status: "INVALIDATED",
      error: { code: 1408, reason: "The request was not answered in time." },
    });
    expect(over.links.map(({ rel }: { rel: string }) => rel)).toEqual(["status", "result"]);
    const late = await application.answer(made, application.answerOf(authenticator, made));
    expect([late.status, late.body]).toEqual([200, over]);
    expect((await application.call("DELETE", `${requests}/${made.id}`)).body).toEqual(over);
  });

  test("is cancelled by the application, with one audit entry", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const made = await application.create("AUTH", userId);
    const cancel = () => application.call("DELETE", `${requests}/${made.id}`);
    const [one, other] = await Promise.all([cancel(), cancel()]);
    expect(one).toMatchObject({
      status: 200,
      body: { status: "FAILED", error: { code: 1403, reason: "The request was cancelled." } },
    });
    expect(other.body).toEqual(one.body);
    const late = await application.answer(made, application.answerOf(authenticator, made));
    expect(late.body).toEqual(one.body);
    const [line, ...others] = await lines(made.id);
    expect([line?.details, others]).toEqual([{ request_id: made.id, reason: "cancelled", code: 1403 }, []]);
  });

  test("cannot be cancelled after it ended", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const made = await application.create("AUTH", userId);
    const done = await application.answer(made, application.answerOf(authenticator, made));
    expect((await application.call("DELETE", `${requests}/${made.id}`)).body).toEqual(done.body);
  });
});
