import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { decodeProtectedHeader } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../../../server/testing/eventually.ts";
import { flowClient } from "../../../server/testing/flow-client.ts";
import { openForTests } from "../../../server/testing/open-for-tests.ts";
import { startService } from "../../../server/testing/service.ts";
import { startReceiver } from "../../../server/testing/webhook-receiver.ts";
import { createStile } from "./stile.ts";

/** Replaces the key of a running server under one client, as `docs/security.md` says under "Rolling a key". */

const [oldKey, newKey] = ["an old key of the operator", "a new key of the operator"];
const secret = `whsec_${randomBytes(32).toString("base64")}`;

const receiver = await openForTests(startReceiver());
const service = await openForTests(
  startService({
    SECRET_KEYS: oldKey,
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
    STILE_WEBHOOKS_ENABLED: "true",
    STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: receiver.url, events: ["user.create"], secret }]),
  }),
);

async function restartWith(...keys: string[]) {
  service.server.environment.SECRET_KEYS = keys.join(",");
  await service.server.restart();
}

/** Registers a user, and returns the token of the session and the delivery that tells of the user. */
async function register() {
  const client = flowClient(service.server.url);
  await client.start("registration");
  await client.act("register_client_capabilities", {});
  await client.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
  await client.act("register_password", { new_password: "nine otters under the bridge" });
  expect(client.state.name).toBe("success");
  registered += 1;
  const delivery = await eventually(() => {
    const found = receiver.received[registered - 1];
    if (!found) throw new Error("no delivery yet");
    return found;
  });
  return { token: client.cookies.get("service") ?? "", delivery };
}
let registered = 0;

const kidOf = (token: string) => decodeProtectedHeader(token).kid;

test("A66 a client verifies sessions and deliveries of the old and the new key, and none of a removed one", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now(), shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const keyReads: string[] = [];
  const stile = createStile({
    baseUrl: service.server.url,
    webhookSecret: secret,
    fetch: (input, init) => {
      if (String(input).endsWith("/jwks.json")) keyReads.push(String(input));
      return fetch(input, init);
    },
  });
  const verifyBoth = async ({ token, delivery }: Awaited<ReturnType<typeof register>>) => {
    expect(await stile.verifySession(token)).toMatchObject({ ok: true });
    expect(await stile.verifyWebhook(delivery)).toMatchObject({ ok: true, event: { name: "user.create" } });
  };

  const before = await register();
  await verifyBoth(before);
  const [oldKid] = [before.token, before.delivery.token].map(kidOf);
  expect(kidOf(before.delivery.token)).toBe(oldKid);

  // Servers that start while the new key is only published sign with the old one: nothing is read again.
  await restartWith(oldKey, newKey);
  for (let starts = 0; starts < 2; starts += 1) {
    await restartWith(newKey, oldKey);
    const meanwhile = await register();
    expect([kidOf(meanwhile.token), kidOf(meanwhile.delivery.token)]).toEqual([oldKid, oldKid]);
    await verifyBoth(meanwhile);
  }
  expect(keyReads).toHaveLength(1);

  await service.database.database.write.execute(
    sql`update signing_keys set created_at = created_at - interval '12 minutes'`,
  );
  await restartWith(newKey, oldKey);
  const after = await register();
  const newKid = kidOf(after.token);
  expect(newKid).not.toBe(oldKid);
  expect(kidOf(after.delivery.token)).toBe(newKid);
  vi.setSystemTime(Date.now() + 31_000);
  await verifyBoth(after);
  await verifyBoth(before);
  expect(keyReads).toHaveLength(2);

  await service.stile("secrets", "reseal");
  await restartWith(newKey);
  await verifyBoth(await register());
  await verifyBoth(before);

  await service.database.database.write.execute(sql`delete from signing_keys where id = ${oldKid}`);
  await restartWith(newKey);
  expect(await stile.verifySession(before.token)).toEqual({ ok: false, reason: "ended" });
  vi.setSystemTime(Date.now() + 11 * 60_000);
  expect(await stile.verifySession(before.token, { tokenOnly: true })).toEqual({
    ok: false,
    reason: "invalid",
  });
  expect(await stile.verifySession(after.token)).toMatchObject({ ok: true });
});
