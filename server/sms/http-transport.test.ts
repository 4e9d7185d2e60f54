import { afterEach, describe, expect, test } from "vitest";
import {
  acceptedSms,
  answering,
  type SmsBehaviour,
  type SmsService,
  startSmsCatcher,
} from "../testing/sms-service.ts";
import { createHttpTransport, SmsAttemptError, SmsRejection } from "./http-transport.ts";

const never = new AbortController().signal;
const sms = {
  id: "id",
  to: "+4915112345678",
  text: "048213 is your code\n@a.example #048213",
  validSeconds: 290,
};

let service: SmsService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

async function transportTo(
  behave: readonly SmsBehaviour[] | undefined,
  options: Partial<Parameters<typeof createHttpTransport>[0]> = {},
) {
  service = await startSmsCatcher(behave);
  return createHttpTransport({
    url: service.url,
    accountSid: "AC0123",
    authToken: "hush:häsh",
    sender: { From: "Stile" },
    timeoutMs: 10_000,
    ...options,
  });
}

/** What sending fails with. */
async function failure(behave: SmsBehaviour, options?: Partial<Parameters<typeof createHttpTransport>[0]>) {
  const transport = await transportTo([behave], options);
  return transport.send(sms, never).then(
    (answer) => {
      throw new Error(`was accepted: ${answer}`);
    },
    (error: unknown) => error,
  );
}

test("posts a form to the Messages resource, with Basic authentication", async () => {
  const transport = await transportTo(undefined);
  expect(await transport.send(sms, never)).toBe("201 queued SM00000000000000000000000000000001");
  expect(service?.received).toEqual([
    {
      method: "POST",
      path: "/2010-04-01/Accounts/AC0123/Messages.json",
      credentials: "AC0123:hush:häsh",
      contentType: "application/x-www-form-urlencoded;charset=UTF-8",
      form: { To: sms.to, From: "Stile", Body: sms.text, ValidityPeriod: "290" },
    },
  ]);
});

test("names a messaging service in place of a sender, and keeps the path of the service", async () => {
  const transport = await transportTo(undefined, { sender: { MessagingServiceSid: "MG1" } });
  await transport.send({ ...sms, validSeconds: 1_000_000 }, never);
  expect(service?.received[0]?.form).toEqual({
    To: sms.to,
    MessagingServiceSid: "MG1",
    Body: sms.text,
    ValidityPeriod: "36000",
  });
  const below = createHttpTransport({
    url: `${service?.url}/relay/`,
    accountSid: "AC0123",
    authToken: "hush",
    sender: { From: "Stile" },
    timeoutMs: 10_000,
  });
  await below.send(sms, never);
  expect(service?.received[1]?.path).toBe("/relay/2010-04-01/Accounts/AC0123/Messages.json");
});

describe("A173 an answer that accepts nothing is a failure", () => {
  test.each([
    ["an error number", { ...acceptedSms, error_code: 30_007 }, "the service did not send it: error 30007"],
    ["failed", { ...acceptedSms, status: "failed" }, "the service did not send it: failed"],
    ["undelivered", { ...acceptedSms, status: "undelivered" }, "the service did not send it: undelivered"],
    ["canceled", { ...acceptedSms, status: "canceled" }, "the service did not send it: canceled"],
  ])("200 with %s is permanent", async (_, body, message) => {
    const error = await failure(answering(200, body));
    expect(error).toBeInstanceOf(SmsRejection);
    expect(error).toMatchObject({ message, concernsService: false });
  });

  test.each<[string, SmsBehaviour]>([
    ["HTML", answering(200, "<!doctype html><h1>Log in</h1>", { "content-type": "text/html" })],
    ["nothing", answering(200, "")],
    ["JSON that is no SMS", answering(200, { ok: true })],
    ["a list", answering(200, [acceptedSms])],
    ["no body", (response) => void response.writeHead(204).end()],
  ])("200 with %s is tried again, and may have been sent", async (_, behave) => {
    const error = await failure(behave);
    expect(error).toBeInstanceOf(SmsAttemptError);
    expect(error).toMatchObject({ code: "SMS_SERVICE_UNREADABLE", mayBeSent: true });
  });
});

describe("A173 a rejection", () => {
  test.each([
    [400, { code: 21_211 }, "the service rejected it: 400, error 21211", false],
    [400, { code: 21_606 }, "the service rejected it: 400, error 21606", true],
    [400, { code: 21_703 }, "the service rejected it: 400, error 21703", true],
    [400, "not JSON", "the service rejected it: 400", false],
    [
      401,
      { code: 20_003, message: "Authenticate +4915112345678" },
      "the service rejected it: 401, error 20003",
      true,
    ],
    [403, {}, "the service rejected it: 403", true],
    [404, {}, "the service rejected it: 404", true],
  ])("%i is permanent, and quotes no text of the service", async (status, body, message, concernsService) => {
    const error = await failure(answering(status, body));
    expect(error).toBeInstanceOf(SmsRejection);
    expect(error).toMatchObject({ message, concernsService });
  });

  test.each([408, 500, 502, 503, 504])(
    "%i is tried again, and may be the answer of a gateway about an SMS that was sent",
    async (status) => {
      const error = await failure(answering(status, {}));
      expect(error).toBeInstanceOf(SmsAttemptError);
      expect(error).toMatchObject({ code: "SMS_SERVICE_ERROR", responseCode: status, mayBeSent: true });
      expect(error).toMatchObject({ retryAfterSeconds: null });
    },
  );

  test("429, and 503 with a time, are tried again, as nothing was sent", async () => {
    const busy = await failure(answering(429, {}));
    expect(busy).toMatchObject({ code: "SMS_SERVICE_ERROR", responseCode: 429, mayBeSent: false });
    await service?.close();
    const away = await failure(answering(503, {}, { "retry-after": "5" }));
    expect(away).toMatchObject({ responseCode: 503, mayBeSent: false, retryAfterSeconds: 5 });
  });

  test("says how long to wait, if the service does", async () => {
    expect(await failure(answering(429, {}, { "retry-after": "17" }))).toMatchObject({
      retryAfterSeconds: 17,
    });
    await service?.close();
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    const error = (await failure(answering(503, {}, { "retry-after": inAMinute }))) as SmsAttemptError;
    expect(error.retryAfterSeconds).toBeGreaterThan(50);
    expect(error.retryAfterSeconds).toBeLessThanOrEqual(60);
    await service?.close();
    expect(await failure(answering(503, {}, { "retry-after": "soon" }))).toMatchObject({
      retryAfterSeconds: null,
    });
  });
});

test("A173 a redirect is not followed, so that password and code stay at the configured host", async () => {
  const elsewhere = await startSmsCatcher();
  try {
    for (const status of [301, 302, 303, 307, 308]) {
      const error = await failure(answering(status, "", { location: elsewhere.url }));
      expect(error).toMatchObject({
        message: `the service answers with a redirect: ${status}`,
        concernsService: true,
      });
      await service?.close();
    }
    expect(elsewhere.received).toEqual([]);
  } finally {
    service = undefined;
    await elsewhere.close();
  }
});

test("A173 a service that does not answer is left after the time limit", async () => {
  const error = await failure(() => {}, { timeoutMs: 100 });
  expect(error).toMatchObject({ code: "SMS_SERVICE_TIMEOUT", mayBeSent: true });
});

test("A173 a service that stops in the middle of its answer is left after the time limit", async () => {
  const error = await failure((response) => void response.writeHead(201).write('{"sid":'), {
    timeoutMs: 100,
  });
  expect(error).toMatchObject({ code: "SMS_SERVICE_TIMEOUT", mayBeSent: true });
});

test("A173 a service that closes the connection may have sent the SMS", async () => {
  const error = await failure((_, request) => request.socket.resetAndDestroy());
  expect(error).toBeInstanceOf(SmsAttemptError);
  expect(error).toMatchObject({ mayBeSent: true });
});

test("A173 a service that refuses connections has sent nothing", async () => {
  const transport = await transportTo(undefined);
  await service?.close();
  service = undefined;
  await expect(transport.send(sms, never)).rejects.toMatchObject({ code: "ECONNREFUSED", mayBeSent: false });
});

test("A173 no more than 64 KiB of an answer are read", async () => {
  let written = 0;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const error = await failure((response) => {
    response.writeHead(201, { "content-type": "application/json" });
    response.on("close", resolve);
    const more = () => {
      while (written < 10 * 1024 * 1024 && !response.destroyed) {
        written += 16 * 1024;
        if (!response.write(" ".repeat(16 * 1024))) return void response.once("drain", more);
      }
      response.end(JSON.stringify(acceptedSms));
    };
    more();
  });
  expect(error).toMatchObject({ code: "SMS_SERVICE_UNREADABLE" });
  await closed;
  expect(written).toBeLessThan(10 * 1024 * 1024);
});

test("ends with the attempt", async () => {
  const ending = new AbortController();
  const transport = await transportTo([() => ending.abort()]);
  await expect(transport.send(sms, ending.signal)).rejects.toMatchObject({ name: "AbortError" });
});
