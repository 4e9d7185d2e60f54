import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { storeWebhook } from "../testing/emitted-events.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { warnOfMissingReceivers } from "./message-receivers.ts";

const runtime = await runtimeForTests();

beforeEach(async () => void (await runtime.database.write.delete(schema.webhooks)));

const off = { STILE_EMAIL_DELIVERY_ENABLED: "false" };

/** Tenants that a start warns of. */
async function warned(of: TestRuntime): Promise<string[]> {
  const ids: string[] = [];
  const warn = (facts: { tenantId: string }) => void ids.push(facts.tenantId);
  await warnOfMissingReceivers(of, { warn } as never);
  return ids;
}

it("warns without delivery and without a webhook for mails", async () => {
  await storeWebhook(runtime, ["user"]);
  await storeWebhook(runtime, ["email.send"], { enabled: false });
  expect(await warned(runtime.configured(off))).toEqual([runtime.tenant.id]);
});

it("does not warn while the service delivers", async () => {
  expect(await warned(runtime)).toEqual([]);
});

it("does not warn with a stored webhook, or one of the configuration", async () => {
  const hooks = JSON.stringify([{ callback: "https://example.com/mail", events: ["email.send"] }]);
  const configured = { STILE_WEBHOOKS_ENABLED: "true", STILE_WEBHOOKS_HOOKS: hooks };
  expect(await warned(runtime.configured({ ...off, ...configured }))).toEqual([]);
  await storeWebhook(runtime, ["email.send"]);
  expect(await warned(runtime.configured(off))).toEqual([]);
});

it("warns of a tenant that has turned delivery off", async () => {
  const id = randomUUID();
  const config = { email_delivery: { enabled: false } };
  await runtime.database.write.insert(schema.tenants).values({ id, name: "Other", config });
  await storeWebhook(runtime, ["email.send"]);
  expect(await warned(runtime)).toEqual([id]);
});

describe("of SMS", () => {
  const smsOff = { STILE_PHONE_ENABLED: "true", STILE_SMS_DELIVERY_ENABLED: "false" };

  it("warns without delivery and without a webhook for them, if there are numbers", async () => {
    await storeWebhook(runtime, ["email.send"]);
    expect(await warned(runtime.configured(smsOff))).toContain(runtime.tenant.id);
    expect(await warned(runtime.configured({ ...smsOff, STILE_PHONE_ENABLED: "false" }))).not.toContain(
      runtime.tenant.id,
    );
  });

  it("does not warn with a webhook for them", async () => {
    await storeWebhook(runtime, ["sms.send"]);
    expect(await warned(runtime.configured(smsOff))).not.toContain(runtime.tenant.id);
  });
});
