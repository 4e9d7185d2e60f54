import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { type FlowClient, flowClient } from "../../testing/flow-client.ts";
import { openForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { startService } from "../../testing/service.ts";
import { startReceiver } from "../../testing/webhook-receiver.ts";

/**
 * A running server, its users, and a receiver that is subscribed to every event. The receiver shares no code with the
 * service: it knows `standardwebhooks`, `jose` and the address of the server's keys. It also gets the mails, because the
 * service delivers none.
 */

const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
const password = "seven herons over the lake";

const receiver = await openForTests(startReceiver());
const hook = { callback: receiver.url, events: ["user", "session", "email.send"], secret };
const service = await openForTests(
  startService({
    STILE_WEBHOOKS_ENABLED: "true",
    STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    STILE_WEBHOOKS_HOOKS: JSON.stringify([hook]),
    STILE_EMAIL_DELIVERY_ENABLED: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
    STILE_USERNAME_ACQUIRE_ON_REGISTRATION: "false",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
    STILE_ACCOUNT_ALLOW_DELETION: "true",
  }),
);

interface Event {
  name: string;
  id: string;
  data: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/** Verifies every delivery, and returns each event once in the order of arrival. */
async function verifiedEvents(): Promise<Event[]> {
  const keys = createRemoteJWKSet(new URL(`${service.server.url}/.well-known/jwks.json`));
  const events = new Map<string, Event>();
  for (const { body, headers, token, event } of receiver.received) {
    new Webhook(secret).verify(body, headers);
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      typ: "webhook+jwt",
      subject: "hanko webhooks",
      audience: "localhost",
      maxTokenAge: "5 min",
    });
    expect(protectedHeader.typ).toBe("webhook+jwt");
    expect(payload).toMatchObject({ evt: event, jti: headers["webhook-id"] });
    const data = payload.data as Record<string, unknown>;
    events.set(payload.jti ?? "", { name: event, id: payload.jti ?? "", data, claims: payload });
  }
  return [...events.values()];
}

/** The code of the newest mail to an address, which only the receiver has. */
const mailedCode = (address: string) =>
  eventually(() => {
    const mails = receiver.received.filter(({ event }) => event === "email.send");
    const data = mails.map(({ token }) => decodeJwt(token).data as Record<string, unknown>);
    const mail = data.findLast((one) => one.to_email_address === address);
    const { otp_code } = (mail?.data ?? {}) as { otp_code?: string };
    if (otp_code === undefined) throw new Error(`no code was sent to ${address}`);
    return otp_code;
  });

async function begin(client: FlowClient, type: "login" | "registration" | "profile") {
  await client.start(type);
  await client.act("register_client_capabilities", { webauthn_available: false });
}

const isOfPrimary = ({ data }: Record<string, unknown>) =>
  (data as { template?: string }).template === "primary_email_update";

test("sees a whole registration, login and profile session as the list says", async () => {
  const client = flowClient(service.server.url, {
    language: "pt-BR",
    headers: { "user-agent": "Browser/7" },
  });
  const [first, second] = [newAddress(), newAddress()];

  await begin(client, "registration");
  await client.act("register_login_identifier", { email: first });
  await client.act("verify_passcode", { code: await mailedCode(first) });
  await client.act("register_password", { new_password: password });
  expect(client.state.name).toBe("success");
  expect((await client.request("/logout", { method: "POST" })).status).toBe(204);

  await begin(client, "login");
  await client.act("continue_with_login_identifier", { identifier: first });
  await client.act("password_login", { password });
  expect(client.state.name).toBe("success");

  await begin(client, "profile");
  await client.act("username_create", { username: "ada_lovelace" });
  await client.act("username_update", { username: "countess" });
  await client.act("username_delete");
  await client.act("email_create", { email: second });
  await client.act("verify_passcode", { code: await mailedCode(second) });
  const { emails } = client.state.payload.user as { emails: { id: string; address: string }[] };
  await client.act("email_set_primary", { email_id: emails.find(({ address }) => address === second)?.id });
  await client.act("email_delete", { email_id: emails.find(({ address }) => address === first)?.id });
  await client.act("password_update", { password: `${password} again` });
  await client.act("patch_metadata", { patch_metadata: { theme: "dark" } });
  await client.act("account_delete");
  expect(client.state.name).toBe("account_deleted");

  await eventually(() => expect(receiver.received.map(({ event }) => event)).toContain("user.delete"));
  const events = await verifiedEvents();
  const userId = events.find(({ name }) => name === "user.create")?.data.id;
  const own = events.filter(({ data }) => [data.id, data.user_id].includes(userId));
  expect(own.map(({ name }) => name)).toEqual([
    "user.create",
    "session.create.flow",
    "session.delete.explicit.logout",
    "session.create.flow",
    "user.login",
    "user.update.username.create",
    "user.update.username.update",
    "user.update.username.delete",
    "user.update.email.create",
    "user.update.email.primary",
    "user.update.email.delete",
    "user.update.password.update",
    "user.update",
    "user.delete",
  ]);
  const deleted = own.at(-1)?.data;
  expect(deleted).toMatchObject({
    emails: [{ address: second, is_primary: true, is_verified: true }],
    metadata: { unsafe_metadata: { theme: "dark" } },
    user_agent: "Browser/7",
  });
  expect(deleted).not.toHaveProperty("username");

  await eventually(async () => {
    const mails = (await verifiedEvents()).filter(({ name }) => name === "email.send");
    const types = mails.map(({ data }) => [data.type, (data.data as { template?: string }).template]);
    expect(types.toSorted()).toEqual([
      ["email_verification", undefined],
      ["email_verification", undefined],
      ["security_notification", "account_delete"],
      ["security_notification", "email_create"],
      ["security_notification", "email_delete"],
      ["security_notification", "password_update"],
      ["security_notification", "primary_email_update"],
      ["security_notification", "primary_email_update"],
    ]);
    const changes = mails.filter(({ data }) => isOfPrimary(data)).map(({ data }) => data.data);
    for (const change of changes)
      expect(change).toMatchObject({ old_email_address: first, new_email_address: second });
    for (const { data, claims } of mails) {
      expect(data).toMatchObject({ delivered_by_hanko: false, language: "pt-BR", accept_language: "pt-BR" });
      expect(claims.language).toBe("pt-BR");
    }
  });

  // No code outlives its delivery.
  await eventually(async () => {
    const query = "select count(*)::int as sealed from events where sealed_data is not null";
    const { rows } = await service.database.database.read.$client.query(query);
    expect(rows).toEqual([{ sealed: 0 }]);
  });
});

test("gets the primary address from before when the operator changes it", async () => {
  const [first, second] = [newAddress(), newAddress()];
  const key = await service.stile("keys", "create", "--interface", "admin", "--name", "support");
  const [secretOfKey = ""] = /\S{30,}/.exec(key) ?? [];
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${service.server.url}/admin${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secretOfKey}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect(answer.status).toBeLessThan(300);
    return answer;
  };
  const emails = [first, second].map((address) => ({
    address,
    is_primary: address === first,
    is_verified: true,
  }));
  const user = (await (await call("/users", { emails })).json()) as {
    id: string;
    emails: { id: string; address: string }[];
  };
  const other = user.emails.find(({ address }) => address === second)?.id;
  await call(`/users/${user.id}/emails/${other}/set_primary`);
  await eventually(async () => {
    const mails = (await verifiedEvents()).filter(
      ({ name, data }) => name === "email.send" && isOfPrimary(data),
    );
    const told = mails.map(({ data }) => ({ to: data.to_email_address, ...(data.data as object) }));
    const change = { old_email_address: first, new_email_address: second };
    expect(told.filter(({ to }) => to === first)).toMatchObject([change]);
  });
});
