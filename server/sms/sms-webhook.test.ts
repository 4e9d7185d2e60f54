import { randomUUID } from "node:crypto";
import { createLocalJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { schema } from "#db/client";
import { messageRecords } from "../audit/message-records.ts";
import { messageEvents } from "../events/message-events.ts";
import { webhookSecretContext } from "../events/seal-contexts.ts";
import { testAttempt } from "../testing/attempt.ts";
import { storedEvents, storeWebhook } from "../testing/emitted-events.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { type SmsService, startSmsCatcher } from "../testing/sms-service.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { createReceiverClient } from "../webhooks/receiver-client.ts";
import { createWebhookDelivery } from "../webhooks/webhook-delivery.ts";
import { sendSms } from "./send-sms.ts";
import type { SmsJob } from "./sms-job.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const number = "+4915112345678";

let runtime: TestRuntime;
let receiver: WebhookReceiver;
let service: SmsService;
beforeEach(async () => {
  service = await startSmsCatcher();
  receiver = await startReceiver();
  runtime = await testRuntime({ ...service.settings, STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" });
});
afterEach(async () => {
  await receiver.close();
  await service.close();
  await runtime.close();
});

async function subscribe(events: readonly string[]): Promise<void> {
  const { tenant, vault, database } = runtime;
  const id = await storeWebhook(runtime, events, { callback: receiver.url });
  const sealedSecret = vault.seal(Buffer.from(secret), webhookSecretContext(tenant.id, id));
  await database.write.update(schema.webhooks).set({ sealedSecret });
}

/** Runs the job of an SMS so many times, and delivers its event. */
async function send(of: TestRuntime, { ttlSeconds = 300, attempts = 1 } = {}): Promise<string> {
  const { tenant, tenants, vault, database, log } = of;
  const kind = sendSms({
    tenants,
    vault,
    publish: messageEvents(of, "sms"),
    records: messageRecords(of, "sms", log),
    database,
  });
  const id = randomUUID();
  const job: SmsJob = {
    name: "send_sms",
    tenantId: tenant.id,
    to: number,
    language: "de",
    sms: { type: "sms_second_factor", code: "048213", ttlSeconds, host: "login.example.com" },
  };
  const stored = kind.store(job, id);
  for (let attempt = 0; attempt < attempts; attempt += 1)
    await kind.run(stored, testAttempt({ id, isFirst: attempt === 0, number: attempt + 1 }));
  const delivery = createWebhookDelivery({ ...of, client: createReceiverClient({ allowPrivate: true }) });
  onTestFinished(() => delivery.stop(0));
  await delivery.runDue(10);
  return id;
}

const undelivered = () => runtime.configured({ STILE_SMS_DELIVERY_ENABLED: "false" });

test("with sms_delivery.enabled off a webhook gets number, text and code, signed, and the service nothing", async () => {
  await subscribe(["sms.send"]);
  const id = await send(undelivered());
  expect(service.received).toEqual([]);
  const [delivery] = receiver.received;
  if (!delivery) throw new Error("nothing was received");
  expect(new Webhook(secret).verify(delivery.body, delivery.headers)).toEqual({
    token: delivery.token,
    event: "sms.send",
  });
  const keys = await runtime.signingKeys.of(runtime.tenant).jwks();
  const { payload } = await jwtVerify(delivery.token, createLocalJWKSet(keys), { typ: "webhook+jwt" });
  expect(payload).toMatchObject({
    evt: "sms.send",
    jti: id,
    language: "de",
    data: {
      type: "sms_second_factor",
      to_phone_number: number,
      text: "048213 ist Ihr Code für den zweiten Schritt bei Stile, 5 Minuten gültig. Geben Sie ihn nicht weiter.\n@login.example.com #048213",
      delivered: false,
      language: "de",
      data: {
        service_name: "Stile",
        otp_code: "048213",
        ttl: 300,
        valid_until: expect.any(Number),
        host: "login.example.com",
      },
    },
  });
});

test("A86 the event is stored sealed, and its data are erased when it was delivered", async () => {
  await subscribe(["sms.send"]);
  await send(undelivered());
  const [event] = await storedEvents(runtime);
  expect(event).toMatchObject({ name: "sms.send", data: null, sealedData: null });
});

test("while the service sends, a webhook is told of the SMS beside it", async () => {
  await subscribe(["sms.send"]);
  await send(runtime);
  expect(service.received).toHaveLength(1);
  const [, claims = ""] = receiver.received[0]?.token.split(".") ?? [];
  expect(JSON.parse(Buffer.from(claims, "base64url").toString()).data.delivered).toBe(true);
});

test("an SMS that is tried again is one event", async () => {
  await subscribe(["sms.send"]);
  await send(undelivered(), { attempts: 3 });
  expect(receiver.received).toHaveLength(1);
});

test("a webhook for mails gets no SMS", async () => {
  await subscribe(["email.send", "user"]);
  await expect(send(undelivered())).rejects.toThrow("no webhook is subscribed to sms.send");
  expect(receiver.received).toEqual([]);
});

test("an SMS whose code has expired is not delivered any more", async () => {
  await subscribe(["sms.send"]);
  await send(undelivered(), { ttlSeconds: -1 });
  expect(receiver.received).toEqual([]);
});
