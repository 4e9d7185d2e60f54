import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readNow } from "#db/clock";
import { ConflictError } from "#db/errors";
import { readLocations } from "../locations/location-database.ts";
import type { RequestContext } from "../runtime.ts";
import { authenticatorApplication } from "../testing/authenticator-application.ts";
import { writeMmdb } from "../testing/mmdb.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { readPng } from "../testing/qr-reading.ts";
import { type TestRuntime, testClient } from "../testing/runtime.ts";
import type { UafAuthenticator } from "../testing/uaf-authenticator/authenticator.ts";
import {
  consumeLoginRequest,
  ensureLoginRequest,
  type LoginRequest,
  type LoginRequestPayload,
  loginRequestStatus,
} from "./login-request.ts";

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
const application = await authenticatorApplication(runtime);

async function scope(on: TestRuntime = runtime): Promise<RequestContext> {
  const now = await readNow(on.database.read, on.platform.clockShift());
  const signal = new AbortController().signal;
  return { runtime: on, tenant: on.tenant, client: testClient, now, signal };
}

interface EnrolledUser extends LoginRequest {
  authenticator: UafAuthenticator;
}

async function enrolledUser(): Promise<EnrolledUser> {
  const userId = randomUUID();
  const { authenticator } = await application.enroll(userId);
  return { flowId: randomUUID(), userId, authenticator };
}

/** Ensures a request and commits its write. */
async function ensure(who: LoginRequest, on?: TestRuntime) {
  const ensured = await ensureLoginRequest(await scope(on), { ...who, username: "ada@example.com" });
  if (!ensured.ok) throw new Error(ensured.reason);
  const { write, shown } = ensured;
  if (write) await runtime.database.write.transaction(write);
  return { shown, isNew: write !== undefined };
}

const scanned = ({ qr_image_source }: LoginRequestPayload) =>
  readPng(Buffer.from(qr_image_source.split(",")[1] ?? "", "base64")).text ?? "";

/** Scans the QR code and answers the request. */
async function confirm({ authenticator }: EnrolledUser, shown: LoginRequestPayload, instead = {}) {
  const link = new URL(scanned(shown));
  const authorization = `device ${link.searchParams.get("token")}`;
  const { body } = await application.call("GET", link.href, { authorization });
  const uafResponse = application.answerOf(authenticator, body, instead);
  return application.call("PUT", link.href, { authorization, body: { uafResponse } });
}

const status = async (who: LoginRequest) => loginRequestStatus(await scope(), who);
const take = (who: LoginRequest) =>
  runtime.database.write.transaction(consumeLoginRequest(runtime.tenant, who));

describe("a sign-in", () => {
  test("shows the authenticator the place of the visitor's address", async () => {
    const places = readLocations(
      writeMmdb({ [`${testClient.ip}/32`]: { country: { names: { en: "United Kingdom" } } } }),
    );
    const ada = await enrolledUser();
    const { shown } = await ensure(ada, { ...runtime, locations: places.ok ? places.locations : null });
    const link = new URL(scanned(shown));
    const authorization = `device ${link.searchParams.get("token")}`;
    const { body } = await application.call("GET", link.href, { authorization });
    expect(body).toMatchObject({
      clientData: { remoteAddress: testClient.ip },
      location: { country: "United Kingdom" },
    });
    expect(shown).not.toHaveProperty("location");
  });

  test("shows a QR code, gets the answer, and uses it once", async () => {
    const ada = await enrolledUser();
    expect(await status(ada)).toBe("expired");
    const { shown, isNew } = await ensure(ada);
    expect(isNew).toBe(true);
    expect(shown).toEqual({
      request_id: expect.stringMatching(/^\w{44}$/),
      qr_image_source: expect.stringMatching(/^data:image\/png;base64,/),
      events_href: expect.stringMatching(
        new RegExp(`^/authenticator/v1/uaf/requests/${shown.request_id}/events\\?token=[\\w-]{43}$`),
      ),
      valid_until: expect.stringMatching(/Z$/),
    });
    expect(await status(ada)).toBe("pending");
    const waited = await application.call("GET", `https://login.example${shown.events_href}&wait=0`, {
      authorization: null,
    });
    expect(waited.body).toMatchObject({ id: shown.request_id, status: "PENDING" });
    expect((await confirm(ada, shown)).body.status).toBe("OK");
    expect(await status(ada)).toBe("ok");
    await take(ada);
    await expect(take(ada)).rejects.toThrow(ConflictError);
    expect(await status(ada)).toBe("expired");
  });

  test("uses an answer once if it is taken concurrently", async () => {
    const ada = await enrolledUser();
    await confirm(ada, (await ensure(ada)).shown);
    const takes = await Promise.allSettled(Array.from({ length: 5 }, () => take(ada)));
    expect(takes.filter((one) => one.status === "fulfilled")).toHaveLength(1);
  });

  test("shows the same QR code until too little time is left", async () => {
    const ada = await enrolledUser();
    const first = await ensure(ada);
    runtime.advanceClock(80);
    expect(await ensure(ada)).toEqual({ ...first, isNew: false });
    runtime.advanceClock(11);
    const second = await ensure(ada);
    expect(second.isNew).toBe(true);
    expect(second.shown.request_id).not.toBe(first.shown.request_id);
    const old = await application.call("GET", `/v1/uaf/requests/${first.shown.request_id}`);
    expect(old.body.status).toBe("INVALIDATED");
    runtime.advanceClock(121);
    expect(await status(ada)).toBe("expired");
  });

  test("is independent of another sign-in of the same user and of requests of applications", async () => {
    const ada = await enrolledUser();
    const { shown } = await ensure(ada);
    await ensure({ ...ada, flowId: randomUUID() });
    await application.create("AUTH", ada.userId);
    expect((await confirm(ada, shown)).body.status).toBe("OK");
    expect(await status(ada)).toBe("ok");
  });

  test("keeps its answer, and shows no QR code for it", async () => {
    const ada = await enrolledUser();
    const { shown } = await ensure(ada);
    await confirm(ada, shown);
    runtime.advanceClock(300);
    expect(await ensure(ada)).toEqual({ isNew: false, shown: { ...shown, qr_image_source: "" } });
  });

  test("rejects an answer ten minutes after the request, and creates another request", async () => {
    const ada = await enrolledUser();
    const { shown } = await ensure(ada);
    await confirm(ada, shown);
    runtime.advanceClock(590);
    expect(await status(ada)).toBe("ok");
    runtime.advanceClock(11);
    expect(await status(ada)).toBe("expired");
    expect((await ensure(ada)).isNew).toBe(true);
    expect(await status(ada)).toBe("pending");
  });

  test("rejects an answer of a device that was deregistered since, if another device is left", async () => {
    const ada = await enrolledUser();
    const { authenticator: other } = await application.enroll(ada.userId);
    const { shown } = await ensure(ada);
    const { body } = await confirm(ada, shown);
    expect(await status(ada)).toBe("ok");
    await application.create("DEREG", ada.userId, { deviceIds: [body.deviceID] });
    expect(await status(ada)).toBe("expired");
    const again = await ensure(ada);
    expect(again.isNew).toBe(true);
    expect((await confirm({ ...ada, authenticator: other }, again.shown)).body.status).toBe("OK");
    expect(await status(ada)).toBe("ok");
  });

  test("shows the same QR code again if requests live for less than a minute", async () => {
    const brief = runtime.configured({ STILE_AUTHENTICATOR_REQUEST_TTL: "20" });
    const ada = await enrolledUser();
    const first = await ensure(ada, brief);
    runtime.advanceClock(9);
    expect(await ensure(ada, brief)).toEqual({ ...first, isNew: false });
    runtime.advanceClock(2);
    expect((await ensure(ada, brief)).isNew).toBe(true);
  });

  test("reports a wrong answer, and may create another request", async () => {
    const ada = await enrolledUser();
    const first = await ensure(ada);
    expect((await confirm(ada, first.shown, { signature: "flipped" })).body.status).toBe("FAILED");
    expect(await status(ada)).toBe("failed");
    await expect(take(ada)).rejects.toThrow(ConflictError);
    expect((await ensure(ada)).isNew).toBe(true);
    expect(await status(ada)).toBe("pending");
  });

  test("rejects an answer to another sign-in, another user, or an application", async () => {
    const ada = await enrolledUser();
    await confirm(ada, (await ensure(ada)).shown);
    for (const other of [
      { ...ada, flowId: randomUUID() },
      { ...ada, userId: randomUUID() },
    ]) {
      expect(await status(other)).toBe("expired");
      await expect(take(other)).rejects.toThrow(ConflictError);
    }
    const foreign = { id: randomUUID() };
    await expect(runtime.database.write.transaction(consumeLoginRequest(foreign, ada))).rejects.toThrow(
      ConflictError,
    );
    const grace = await enrolledUser();
    const made = await application.create("AUTH", grace.userId, { flowId: grace.flowId });
    await application.answer(made, application.answerOf(grace.authenticator, made));
    expect(await status(grace)).toBe("expired");
    await expect(take(grace)).rejects.toThrow(ConflictError);
  });

  test("shows no QR code to a user without a device", async () => {
    const about = { flowId: randomUUID(), userId: randomUUID(), username: "ada" };
    expect(await ensureLoginRequest(await scope(), about)).toEqual({ ok: false, reason: "no_authenticator" });
  });

  test("A70 limits pushes and does not lock the account owner out if an attacker knows the password", async () => {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_AUTHENTICATOR_REQUESTS_PER_MINUTE: "2",
      STILE_AUTHENTICATOR_PUSH_URL: "https://push.example/",
    });
    const userId = randomUUID();
    await application.enroll(userId, {}, { pushToken: "push" });
    const ask = async (source: string) => {
      const context = await scope(limited);
      const client = { ...context.client, source };
      const about = { flowId: randomUUID(), userId, username: "ada" };
      return ensureLoginRequest({ ...context, client }, about);
    };
    for (const source of ["192.0.2.1", "192.0.2.1"]) expect(await ask(source)).toMatchObject({ ok: true });
    expect(await ask("192.0.2.1")).toMatchObject({ ok: false, reason: "rate_limited" });
    expect(await ask("198.51.100.7")).toMatchObject({ ok: true, jobs: [] });
  });

  test("A70 limits the requests for one user", async () => {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_AUTHENTICATOR_REQUESTS_PER_MINUTE: "2",
    });
    const ada = await enrolledUser();
    const flows = Array.from({ length: 3 }, () => ({ ...ada, flowId: randomUUID(), username: "ada" }));
    const asked = [];
    for (const about of flows) asked.push(await ensureLoginRequest(await scope(limited), about));
    expect(asked.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(asked[2]).toEqual({ ok: false, reason: "rate_limited", retryAfterSeconds: expect.any(Number) });
  });
});
