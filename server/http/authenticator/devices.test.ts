import { randomUUID } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { reseal } from "../../keys/reseal.ts";
import { createVault } from "../../keys/vault.ts";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const { authenticatorDevices, auditLogs } = schema;

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
const application = await authenticatorApplication(runtime);

const newUserId = () => `user ${randomUUID()}`;
const listed = async (userId: string) =>
  (await application.call("GET", `/mgmt/v1/registrations/${encodeURIComponent(userId)}`)).body;

describe("devices", () => {
  test("are listed, oldest first", async () => {
    const userId = newUserId();
    const first = await application.enroll(
      userId,
      {},
      { keyName: "Phone", deviceOs: "Android", osVersion: "9" },
    );
    runtime.advanceClock(1);
    const second = await application.enroll(userId);
    const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    const common = {
      authenticatorType: "FIDO_UAF",
      createdAt: moment,
      lastUsage: moment,
      isSecondFactorOnly: false,
    };
    expect(await listed(userId)).toEqual([
      { deviceId: first.deviceId, keyName: "Phone", deviceOs: "Android", osVersion: "9", ...common },
      { deviceId: second.deviceId, keyName: "Hanko Authenticator", ...common },
    ]);
  });

  test("show the time of their last answer", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const [before] = await listed(userId);
    runtime.advanceClock(60);
    const made = await application.create("AUTH", userId);
    await application.answer(made, application.answerOf(authenticator, made));
    const [after] = await listed(userId);
    expect(after.createdAt).toBe(before.createdAt);
    expect(Date.parse(after.lastUsage) - Date.parse(before.lastUsage)).toBeGreaterThanOrEqual(60_000);
  });

  test("are renamed, with an audit entry that omits the name", async () => {
    const userId = newUserId();
    const { deviceId } = await application.enroll(userId);
    const path = `/mgmt/v1/registrations/rename/${deviceId}`;
    const renamed = await application.call("POST", path, { body: { newName: "Work 📱" } });
    expect(renamed).toMatchObject({ status: 200, body: { newName: "Work 📱" } });
    expect(await listed(userId)).toMatchObject([{ keyName: "Work 📱" }]);
    const lines = await runtime.database.read
      .select()
      .from(auditLogs)
      .where(
        sql`${eq(auditLogs.type, "authenticator_renamed")} and ${auditLogs.details} ->> 'device_id' = ${deviceId}`,
      );
    expect(lines.map(({ details }) => details)).toEqual([{ device_id: deviceId }]);
  });

  test.each([
    [{}, "newName is missing."],
    [{ newName: null }, "newName is missing."],
    [{ newName: " " }, "newName must not be blank."],
    [{ newName: 5 }, "newName must be a string."],
    [{ newName: "a\0" }, "newName contains invalid characters."],
    [{ newName: "x".repeat(129) }, "newName may have at most 128 characters."],
    [[], "The body must be a JSON object."],
  ])("are not renamed with %j", async (body, message) => {
    const { deviceId } = await application.enroll(newUserId());
    const path = `/mgmt/v1/registrations/rename/${deviceId}`;
    expect(await application.call("POST", path, { body })).toMatchObject({ status: 400, body: { message } });
  });

  test("A78 keep push tokens that are resealed when the sealing key rotates", async () => {
    const { deviceId } = await application.enroll(newUserId(), {}, { pushToken: "push-1", secret: "hush" });
    const sealed = async () => {
      const [row] = await runtime.database.read
        .select()
        .from(authenticatorDevices)
        .where(eq(authenticatorDevices.id, deviceId));
      return row?.sealedHandles ?? Buffer.alloc(0);
    };
    const context = `authenticator handles ${runtime.tenant.id} ${deviceId}`;
    const handles = { pushToken: "push-1", secret: "hush" };
    expect(JSON.parse(runtime.vault.unseal(await sealed(), context).toString())).toEqual(handles);
    const moved = createVault(["a new key of many characters", "a key for tests alone"]);
    await reseal(runtime.database, moved);
    const alone = createVault(["a new key of many characters"]);
    expect(JSON.parse(alone.unseal(await sealed(), context).toString())).toEqual(handles);
    await reseal(runtime.database, createVault(["a key for tests alone", "a new key of many characters"]));
  });

  test("are deregistered, all or by id, and those of other users stay", async () => {
    const [userId, other] = [newUserId(), newUserId()];
    const [one, two] = [await application.enroll(userId), await application.enroll(userId)];
    const stranger = await application.enroll(other);
    const first = await application.create("DEREG", userId, { deviceIds: [one.deviceId, stranger.deviceId] });
    expect(first).toMatchObject({ status: "OK", links: [{ rel: "status" }, { rel: "result" }] });
    for (const { authenticator } of [one, two, stranger])
      authenticator.deregister(first.request, { facetId: "https://login.example" });
    expect([one, two, stranger].map(({ authenticator }) => authenticator.keys.length)).toEqual([0, 1, 1]);
    expect(await listed(userId)).toMatchObject([{ deviceId: two.deviceId }]);
    expect(await listed(other)).toHaveLength(1);
    expect((await application.create("DEREG", userId)).status).toBe("OK");
    expect(await listed(userId)).toMatchObject({ code: 404 });
  });

  test("have one audit entry if they are deregistered twice concurrently", async () => {
    const userId = newUserId();
    const enrolled = [await application.enroll(userId), await application.enroll(userId)];
    const asked = await Promise.all(Array.from({ length: 6 }, () => application.create("DEREG", userId)));
    for (const { status } of asked) expect(["OK", "FAILED"]).toContain(status);
    for (const { deviceId } of enrolled) {
      const lines = await runtime.database.read
        .select()
        .from(auditLogs)
        .where(
          and(
            eq(auditLogs.type, "authenticator_deregistered"),
            eq(sql`${auditLogs.details} ->> 'device_id'`, deviceId),
          ),
        );
      expect(lines).toHaveLength(1);
    }
  });
});

describe("the list of facets", () => {
  test("is public and cacheable, and names our origin and those of the operator", async () => {
    const facets = "android:apk-key-hash:abc,https://shop.example,https://login.example";
    const own = await authenticatorApplication(runtime.configured({ STILE_AUTHENTICATOR_FACETS: facets }));
    const told = await own.fetch("/facets", { headers: { origin: "https://shop.example" } });
    const ids = ["https://login.example", "android:apk-key-hash:abc", "https://shop.example"];
    expect(JSON.parse(await told.text())).toEqual({
      trustedFacets: [
        { version: { major: 1, minor: 0 }, ids },
        { version: { major: 1, minor: 1 }, ids },
      ],
    });
    expect(Object.fromEntries(told.headers)).toMatchObject({
      "content-type": "application/fido.trusted-apps+json",
      "cache-control": "public, max-age=600",
      "access-control-allow-origin": "*",
    });
  });

  test("is not used if the AppID is itself a facet", async () => {
    const appId = "android:apk-key-hash:abc";
    const own = await authenticatorApplication(runtime.configured({ STILE_AUTHENTICATOR_APP_ID: appId }));
    const made = await own.create("REG", newUserId());
    expect(made.relyingParty.appId).toBe(appId);
    expect(await (await own.fetch("/facets")).json()).toMatchObject({
      trustedFacets: [{ ids: ["https://login.example", appId] }, {}],
    });
  });
});
