import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readNow } from "#db/clock";
import { prepareRequest } from "../../authenticator/create-request.ts";
import { folderForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { testClient } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

const folder = folderForTests("authenticator");
const runtime = await runtimeForTests({ DATA_DIR: folder, BASE_URL: "http://localhost:3000" });

const address = "/dev/authenticator";
const localVisitor = () => visitor(runtime, "127.0.0.1");

async function ask(userId: string): Promise<{ id: string; token: string }> {
  const now = await readNow(runtime.database.read, runtime.platform.clockShift());
  const context = { runtime, tenant: runtime.tenant, client: testClient, now };
  const wanted = { operation: "REG", userId, username: `${userId}@example.com` } as const;
  const { request, deviceToken, write } = await prepareRequest(context, wanted, []);
  await runtime.database.write.transaction(write);
  return { id: request.id, token: deviceToken };
}

const waiting = async (): Promise<{ id: string }[]> =>
  (await localVisitor().request(address, { headers: { accept: "application/json" } })).json();

test("shows pending requests and their users, as a page and as JSON, without tokens", async () => {
  const { id, token } = await ask("<b>ada");
  const page = await localVisitor().request(address);
  const text = await page.text();
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'.*form-action 'self'/);
  expect(text).toContain("&lt;b&gt;ada@example.com");
  expect(text).not.toContain("<b>");
  expect(text).toContain("Add this authenticator");
  expect(text).not.toContain(token);
  expect(await waiting()).toEqual([
    {
      id,
      operation: "REG",
      username: "<b>ada@example.com",
      user_id: "<b>ada",
      transaction: null,
      created_at: expect.any(String),
      valid_until: expect.any(String),
    },
  ]);
});

test("does not show declined or expired requests", async () => {
  const [one, two, three] = [await ask("one"), await ask("two"), await ask("three")];
  const submitted = await localVisitor().submit(address, { do: "decline", request: two.id });
  expect([submitted.status, submitted.headers.get("location")]).toEqual([303, `${address}?outcome=declined`]);
  const ids = (await waiting()).map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([three.id, one.id]);
  runtime.advanceClock(121);
  expect(await waiting()).toEqual([]);
  const late = await localVisitor().submit(address, { do: "approve", request: one.id });
  expect(late.headers.get("location")).toBe(`${address}?outcome=over`);
  expect(await (await localVisitor().request(`${address}?outcome=over`)).text()).toContain("Too late");
});

test("A37 rejects forms of other sites", async () => {
  const { id } = await ask("victim");
  const fields = { do: "decline", request: id };
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ]) {
    expect((await localVisitor().submit(address, fields, headers)).status).toBe(403);
  }
  expect((await waiting()).map((one) => one.id)).toContain(id);
});

test("is not found by other machines or in production", async () => {
  const production = runtime.configured({ NODE_ENV: "production", SECRET_KEYS: "a key for tests alone" });
  for (const browser of [visitor(runtime), visitor(production, "127.0.0.1")]) {
    expect((await browser.request(address)).status).toBe(404);
    expect((await browser.submit(address, { do: "forget", key: "all" })).status).toBe(404);
  }
});

test.each<[string, Record<string, string>]>([
  ["no action", {}],
  ["an unknown action", { do: "explode" }],
  ["an invalid request id", { do: "decline", request: "../x" }],
])("rejects a form with %s", async (_what, fields) => {
  expect((await localVisitor().submit(address, fields)).status).toBe(400);
});

test("rejects a link to another site", async () => {
  const link = `https://other.example/authenticator/v1/uaf/requests/${"a".repeat(44)}?token=a`;
  const answered = await localVisitor().submit(address, { do: "approve", link });
  expect(answered.headers.get("location")).toBe(`${address}?outcome=no+link`);
});

test("does not repeat an unknown outcome", async () => {
  const page = await localVisitor().request(`${address}?outcome=constructor&code=%3Cscript%3E`);
  expect(await page.text()).not.toMatch(/role="status"|<script>&/);
});

test("does not overwrite a file of another format", async () => {
  const file = join(folder, "played-phone.json");
  writeFileSync(file, "[]");
  expect((await localVisitor().submit(address, { do: "forget", key: "all" })).status).toBe(500);
  rmSync(file);
});

test("the simulated authenticator is loaded on first use only", () => {
  const server = join(import.meta.dirname, "../..");
  const sources = globSync("**/*.ts", {
    cwd: server,
    exclude: ["testing/**", "dev/played-authenticator/**", "**/*.test.ts", "**/*.types.ts"],
  });
  const importing = (pattern: RegExp) =>
    sources.filter((file) => pattern.test(readFileSync(join(server, file), "utf8")));
  expect(importing(/from "[^"]*\/played-authenticator\//)).toEqual([]);
  expect(importing(/import\("[^"]*\/played-authenticator\//)).toEqual([
    join("http", "dev", "authenticator.ts"),
  ]);
});
