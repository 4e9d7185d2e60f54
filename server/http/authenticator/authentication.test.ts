import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import type { Overrides } from "../../testing/uaf-authenticator/call.ts";
import { startAuthenticatorService } from "../../testing/uaf-service.ts";
import { applicationOf, linkOf, requests } from "../../testing/uaf-walk.ts";

/** Authentications and transactions, against a running server over HTTP. */

const service = await openForTests(startAuthenticatorService());
const application = applicationOf(service);

describe("an authentication", () => {
  test("names the user's keys, and is answered with a time", async () => {
    const { authenticator, deviceId } = await application.enrolled("grace");
    const made = await application.ask("grace");
    const [message] = JSON.parse(made.request);
    const keyIDs = [authenticator.keys[0]?.id.toString("base64url")];
    expect(message.policy.accepted).toEqual([[{ aaid: ["006F#0001"], keyIDs }]]);
    const { body } = await application.answer(made, authenticator);
    expect(body).toMatchObject({ status: "OK", deviceID: deviceId, device: { deviceId } });
  });

  test("A71 accepts one answer, of two in sequence or concurrently", async () => {
    const { authenticator } = await application.enrolled("twice");
    const made = await application.ask("twice");
    const uafResponse = authenticator.authenticate(made.request, { facetId: service.server.url });
    const put = (id: string) => service.call("PUT", `${requests}/${id}`, { body: { uafResponse } });
    const both = await Promise.all([put(made.id), put(made.id)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both.filter(({ body }) => body.status === "OK").length).toBeGreaterThan(0);
    expect(await application.statusOf(made.id)).toBe("OK");
    const { body } = await put(made.id);
    expect(body.status).toBe("OK");
    const other = await application.ask("twice");
    expect((await put(other.id)).body.status).toBe("FAILED");
  });

  test("A73 fails with a counter that does not grow", async () => {
    const { authenticator } = await application.enrolled("counting", { counts: true });
    for (const [signCounter, status] of [
      [5, "OK"],
      [5, "FAILED"],
      [4, "FAILED"],
      [0, "FAILED"],
      [6, "OK"],
      [2 ** 31, "OK"],
      [2 ** 31, "FAILED"],
      [2 ** 32 - 1, "OK"],
    ] as const) {
      const { body } = await application.answer(await application.ask("counting"), authenticator, {
        signCounter,
      });
      expect([signCounter, body.status]).toEqual([signCounter, status]);
    }
  });

  test("A74 accepts only keys of the user and of the devices that were asked", async () => {
    const one = await application.enrolled("two authenticators");
    const two = await application.enrolled("two authenticators");
    const stranger = await application.enrolled("a stranger");
    const [key] = stranger.authenticator.keys;
    if (!key) throw new Error("no key");
    expect(
      (await application.answer(await application.ask("two authenticators"), one.authenticator, { key })).body
        .status,
    ).toBe("FAILED");
    const only = await application.ask("two authenticators", { deviceIds: [two.deviceId] });
    expect(() => one.authenticator.authenticate(only.request, { facetId: service.server.url })).toThrow(
      "noSuitableAuthenticator",
    );
    expect((await application.answer(only, one.authenticator, { ignorePolicy: true })).body.status).toBe(
      "FAILED",
    );
    const again = await application.ask("two authenticators", { deviceIds: [two.deviceId] });
    expect((await application.answer(again, two.authenticator)).body).toMatchObject({
      status: "OK",
      deviceID: two.deviceId,
    });
  });

  test("A76 accepts only the signed text of the transaction", async () => {
    const { authenticator } = await application.enrolled("paying");
    const transaction = "Pay 5 € to Zoë?";
    const made = await application.ask("paying", { transaction });
    expect(made.transaction).toBe(transaction);
    const [message] = JSON.parse(made.request);
    expect(message.transaction).toEqual([
      { contentType: "text/plain", content: Buffer.from(transaction).toString("base64url") },
    ]);
    expect((await application.answer(made, authenticator)).body).toMatchObject({ status: "OK", transaction });
    for (const instead of [
      { transaction: "Pay 9 € to Zoë?" },
      { transaction: null },
      { mode: 1 },
      { transactionContentHash: Buffer.alloc(0) },
    ] satisfies Overrides[]) {
      const { body } = await application.answer(
        await application.ask("paying", { transaction }),
        authenticator,
        instead,
      );
      expect(body.status).toBe("FAILED");
    }
    expect(
      (await application.answer(await application.ask("paying"), authenticator, { transaction: "Pay" })).body
        .status,
    ).toBe("FAILED");
  });

  test("is invalidated by a newer request of the same user", async () => {
    const { authenticator } = await application.enrolled("impatient");
    const first = await application.ask("impatient");
    const second = await application.ask("impatient");
    expect(await application.statusOf(first.id)).toBe("INVALIDATED");
    const uafResponse = authenticator.authenticate(first.request, { facetId: service.server.url });
    const late = await service.call("PUT", `${requests}/${first.id}`, { body: { uafResponse } });
    expect([late.status, late.body.status]).toEqual([200, "INVALIDATED"]);
    expect((await application.answer(second, authenticator)).body.status).toBe("OK");
  });

  test("stays failed after it was cancelled", async () => {
    const { authenticator } = await application.enrolled("wavering");
    const made = await application.ask("wavering");
    const cancelled = await service.call("DELETE", `${requests}/${made.id}`);
    expect(cancelled).toMatchObject({
      status: 200,
      body: { status: "FAILED", error: { code: expect.any(Number), reason: expect.stringMatching(/./) } },
    });
    const uafResponse = authenticator.authenticate(made.request, { facetId: service.server.url });
    const { body } = await service.call("PUT", `${requests}/${made.id}`, { body: { uafResponse } });
    expect(body.status).toBe("FAILED");
  });

  test("cannot be cancelled after it ended", async () => {
    const { authenticator } = await application.enrolled("decided");
    const made = await application.ask("decided");
    await application.answer(made, authenticator);
    const { status, body } = await service.call("DELETE", `${requests}/${made.id}`);
    expect([status, body.status]).toEqual([200, "OK"]);
  });

  test("shows no QR code and accepts no answer after it expired", async () => {
    const { authenticator } = await application.enrolled("late");
    const made = await application.ask("late");
    const { href } = linkOf(made, "qrcode");
    await service.expire(made.id);
    const seen = await service.call("GET", `${requests}/${made.id}`);
    expect(seen).toMatchObject({ status: 200, body: { status: "INVALIDATED", error: { code: 1408 } } });
    expect((await service.call("GET", href, { authorization: null })).status).toBe(404);
    const uafResponse = authenticator.authenticate(made.request, { facetId: service.server.url });
    for (const late of [
      await application.put(made.id, uafResponse),
      await service.call("DELETE", `${requests}/${made.id}`),
    ]) {
      expect([late.status, late.body]).toEqual([200, seen.body]);
    }
  });

  test("A74 fails for a user without a device, and for a key that was deregistered since", async () => {
    const none = await application.ask("without device");
    expect(none).toMatchObject({ status: "FAILED", error: { code: expect.any(Number) } });
    const { authenticator } = await application.enrolled("departing");
    const made = await application.ask("departing");
    await application.create({ operation: "DEREG", userId: "departing", username: "departing" });
    const { body } = await application.answer(made, authenticator);
    expect(body).toMatchObject({ status: "FAILED", error: { code: 1481 } });
  });

  test("works in another tenant, with links of that tenant", async () => {
    const acme = await service.stile("tenants", "create", "--name", "Acme");
    const key = await service.stile("keys", "create", "--interface", "authenticator", "--tenant", acme);
    const there = applicationOf(service.of({ prefix: `/t/${acme}`, key }));
    const { authenticator, deviceId } = await there.enrolled("ada");
    const made = await there.ask("ada");
    for (const { href } of made.links)
      expect(href).toContain(`${service.server.url}/t/${acme}/authenticator/`);
    expect(made.relyingParty).toMatchObject({
      name: "Acme",
      appId: `${service.server.url}/t/${acme}/authenticator/facets`,
    });
    expect((await there.answer(made, authenticator)).body).toMatchObject({
      status: "OK",
      deviceID: deviceId,
    });
    expect((await application.ask("ada")).status).toBe("FAILED");
  });
});
