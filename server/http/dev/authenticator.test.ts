import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readNow } from "#db/clock";
import { prepareRequest } from "../../authenticator/create-request.ts";
import { someone, type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

let runtime: TestRuntime;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "stile phone "));
  runtime = await testRuntime({ DATA_DIR: folder, BASE_URL: "http://localhost:3000" });
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

const address = "/dev/authenticator";
const here = () => visitor(runtime, "127.0.0.1");

async function ask(userId: string): Promise<{ id: string; token: string }> {
  const now = await readNow(runtime.database.read, runtime.platform.clockShift());
  const acting = { runtime, tenant: runtime.tenant, client: someone, now };
  const wanted = { operation: "REG", userId, username: `${userId}@example.com` } as const;
  const { request, deviceToken, write } = await prepareRequest(acting, wanted);
  await runtime.database.write.transaction(write);
  return { id: request.id, token: deviceToken };
}

const waiting = async (): Promise<{ id: string }[]> =>
  (await here().request(address, { headers: { accept: "application/json" } })).json();

test("the page shows what waits, for whom, and no token; as JSON too", async () => {
  const { id, token } = await ask("<b>ada");
  const page = await here().request(address);
  const text = await page.text();
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'.*form-action 'self'/);
  expect(text).toContain("&lt;b&gt;ada@example.com");
  expect(text).not.toContain("<b>");
  expect(text).toContain("Add this phone");
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

test("what was declined, or is over, is not shown any more", async () => {
  const [one, two, three] = [await ask("one"), await ask("two"), await ask("three")];
  const submitted = await here().submit(address, { do: "decline", request: two.id });
  expect([submitted.status, submitted.headers.get("location")]).toEqual([303, `${address}?outcome=declined`]);
  const ids = (await waiting()).map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([three.id, one.id]);
  runtime.advanceClock(121);
  expect(await waiting()).toEqual([]);
  const late = await here().submit(address, { do: "approve", request: one.id });
  expect(late.headers.get("location")).toBe(`${address}?outcome=over`);
  expect(await (await here().request(`${address}?outcome=over`)).text()).toContain("Too late");
});

test("A37 a page of somebody else presses no button", async () => {
  const { id } = await ask("victim");
  const fields = { do: "decline", request: id };
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ]) {
    expect((await here().submit(address, fields, headers)).status).toBe(403);
  }
  expect((await waiting()).map((one) => one.id)).toContain(id);
});

test("nobody else finds it, nor anybody in production", async () => {
  const production = runtime.configured({ NODE_ENV: "production", SECRET_KEYS: "a key for tests alone" });
  for (const who of [visitor(runtime), visitor(production, "127.0.0.1")]) {
    expect((await who.request(address)).status).toBe(404);
    expect((await who.submit(address, { do: "forget", key: "all" })).status).toBe(404);
  }
});

test.each<[string, Record<string, string>]>([
  ["no button", {}],
  ["another button", { do: "explode" }],
  ["a request that is none", { do: "decline", request: "../x" }],
])("a form with %s is refused", async (_what, fields) => {
  expect((await here().submit(address, fields)).status).toBe(400);
});

test("a link to elsewhere is none", async () => {
  const link = `https://other.example/authenticator/v1/uaf/requests/${"a".repeat(44)}?token=a`;
  const answered = await here().submit(address, { do: "approve", link });
  expect(answered.headers.get("location")).toBe(`${address}?outcome=no+link`);
});

test("an outcome that nobody knows is not repeated", async () => {
  const page = await here().request(`${address}?outcome=constructor&code=%3Cscript%3E`);
  expect(await page.text()).not.toMatch(/role="status"|<script>&/);
});

test("a file that is not the phone's is left alone", async () => {
  const file = join(folder, "played-phone.json");
  writeFileSync(file, "[]");
  expect((await here().submit(address, { do: "forget", key: "all" })).status).toBe(500);
  rmSync(file);
});

test("the server imports nothing that is made for tests", () => {
  const server = join(import.meta.dirname, "../..");
  const sources = globSync("**/*.ts", {
    cwd: server,
    exclude: ["testing/**", "**/*.test.ts", "**/*.types.ts"],
  });
  const importing = sources.filter((file) =>
    /(from |import\()"[^"]*\/testing\//.test(readFileSync(join(server, file), "utf8")),
  );
  expect(importing).toEqual([]);
});
