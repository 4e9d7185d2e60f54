import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { deleteAccount } from "../../account/deletion.ts";
import { updateAdminUser } from "../../admin/users.ts";
import { readUserObject } from "../../objects/user-object.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { jpegPicture, withSegment } from "../../testing/jpeg-pictures.ts";
import { exportAll, importRecords } from "../../testing/moving.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests();

const GPS = "52.5200N";
const square = withSegment(jpegPicture("square"), 0xe1, Buffer.from(`Exif\0\0${GPS}`)).toString("base64url");

const user = ({ state }: Walk) => state.payload.user as { picture?: string };

async function withPicture(): Promise<{ owner: AccountOwner; flow: Walk; path: string }> {
  const owner = await accountOwner(runtime);
  const flow = await owner.manage();
  expect(await flow.act("picture_update", { picture: square })).toMatchObject({ name: "profile_init" });
  expect(flow.state.error).toBeUndefined();
  return { owner, flow, path: flow.state.payload.picture_path as string };
}

const stored = (userId: string) =>
  runtime.database.read.select().from(schema.userPictures).where(eq(schema.userPictures.userId, userId));

const get = (path: string, as: TestRuntime = runtime) => visitor(as).request(path);

describe("the picture of an account", () => {
  test("is set on the account page, and has an address that applications are told", async () => {
    const { owner, flow, path } = await withPicture();
    const address = `${runtime.config.base_url}${path}`;
    expect(path).toMatch(/^\/users\/pictures\/[0-9a-f-]{36}$/);
    expect(user(flow).picture).toBe(address);
    expect(await readUserObject(runtime.database.read, runtime.tenant, owner.userId)).toMatchObject({
      picture: address,
    });
    const audited = await runtime.database.read
      .select({ type: schema.auditLogs.type })
      .from(schema.auditLogs)
      .where(eq(schema.auditLogs.userId, owner.userId));
    expect(audited.map(({ type }) => type)).toContain("profile_changed");
  });

  test("A153 is served without metadata, as a picture and nothing else", async () => {
    const { path } = await withPicture();
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "content-disposition": 'inline; filename="picture.jpg"',
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "private, max-age=86400, immutable",
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.subarray(0, 3)).toEqual(Buffer.of(0xff, 0xd8, 0xff));
    expect(bytes.includes(GPS)).toBe(false);
  });

  test("has another address when it is another, and the old one shows nothing", async () => {
    const { flow, path } = await withPicture();
    await flow.act("picture_update", { picture: square });
    expect(flow.state.payload.picture_path).not.toBe(path);
    expect((await get(path)).status).toBe(404);
    expect((await get(flow.state.payload.picture_path as string)).status).toBe(200);
  });

  test("is removed", async () => {
    const { owner, flow, path } = await withPicture();
    await flow.act("picture_delete");
    expect(user(flow)).not.toHaveProperty("picture");
    expect(flow.state.payload).not.toHaveProperty("picture_path");
    expect(flow.state.actions).not.toHaveProperty("picture_delete");
    expect((await get(path)).status).toBe(404);
    expect(await stored(owner.userId)).toEqual([]);
  });

  test("is deleted with the account, and when the operator states another", async () => {
    const { owner, path } = await withPicture();
    const picture = "https://cdn.example/ada.png";
    expect(await updateAdminUser(requestContext(runtime), owner.userId, { picture })).toMatchObject({
      ok: true,
      user: { picture },
    });
    expect((await get(path)).status).toBe(404);
    expect((await owner.manage()).state.payload).not.toHaveProperty("picture_path");
    const other = await withPicture();
    await runtime.database.write.transaction(
      deleteAccount(requestContext(runtime), other.owner.userId, null),
    );
    expect(await stored(other.owner.userId)).toEqual([]);
  });

  test("stays when the operator sends back the user as it was read", async () => {
    const { owner, path } = await withPicture();
    const picture = `${runtime.config.base_url}${path}`;
    const change = { name: "Ada Lovelace", picture };
    expect(await updateAdminUser(requestContext(runtime), owner.userId, change)).toMatchObject({
      ok: true,
      user: change,
    });
    expect((await get(path)).status).toBe(200);
  });

  test("A68 is not found at another tenant", async () => {
    const { path } = await withPicture();
    const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    expect((await get(`/t/${tenant.id}${path}`)).status).toBe(404);
    expect((await get(path)).status).toBe(200);
  });

  test("A153 refuses what is no small square JPEG, and keeps what there is", async () => {
    const { flow, path } = await withPicture();
    const wrong = [
      jpegPicture("wide").toString("base64url"),
      Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64url"),
      "not base64url!",
      square.slice(0, -40),
      7,
      { $ne: null },
    ];
    for (const picture of wrong) {
      expect(await flow.act("picture_update", { picture })).toMatchObject({ status: 400 });
      expect(flow.errors()).toContain("value_invalid_error");
    }
    await flow.act("picture_update", { picture: "A".repeat(32_769) });
    expect(flow.errors()).toContain("value_too_long_error");
    await flow.act("picture_update", {});
    expect(flow.errors()).toContain("value_missing_error");
    expect(flow.state.payload.picture_path).toBe(path);
  });

  test.each([
    "/users/pictures/",
    `/users/pictures/${randomUUID()}`,
    "/users/pictures/..%2f",
    "/users/pictures/1",
  ])("shows nothing at %s", async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test("stays as it is if users may not change it", async () => {
    const { owner } = await withPicture();
    const as = runtime.configured({ STILE_ACCOUNT_ALLOW_PICTURE_CHANGE: "false" });
    const { state } = await owner.manage({ as });
    expect(state.payload.picture_path).toBeDefined();
    expect(state.actions).not.toHaveProperty("picture_update");
    expect(state.actions).not.toHaveProperty("picture_delete");
  });

  test("moves to another server with the user", async () => {
    const { owner, path } = await withPicture();
    const all = await exportAll(runtime, runtime.tenant, false);
    const exported = all.find(({ id }) => id === owner.userId);
    expect(exported).toMatchObject({ picture: null, picture_file: expect.any(String) });
    const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    expect(await importRecords(runtime, tenant, [exported])).toMatchObject({ imported: 1, refused: 0 });
    const imported = await readUserObject(runtime.database.read, tenant, owner.userId);
    const { base_url } = tenant.config;
    expect(imported?.picture).toMatch(new RegExp(`^${base_url}/users/pictures/`));
    const [given, taken] = await Promise.all([
      get(path),
      get(`/t/${tenant.id}${imported?.picture?.slice(base_url.length)}`),
    ]);
    expect(await taken.bytes()).toEqual(await given.bytes());
    const wrong = { ...exported, id: randomUUID(), emails: [], username: "a_person", picture_file: "AAAA" };
    expect(await importRecords(runtime, tenant, [wrong])).toMatchObject({ imported: 0, refused: 1 });
  });
});
