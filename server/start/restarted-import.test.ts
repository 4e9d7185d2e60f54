import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { type Service, startService } from "../testing/service.ts";

/** An uploaded file of users, while the server that imports it is killed. It needs `npm run build`. */

const USERS = 15_000;

let service: Service;
let key: string;

beforeAll(async () => {
  service = await startService();
  key = (await service.stile("keys", "create", "--interface", "admin")).split("\n").at(-1) ?? "";
});

afterAll(() => service?.close());

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${service.server.url}/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

test("an import whose server is killed in the middle is finished after the restart, each user once", async () => {
  const lines = Array.from({ length: USERS }, (_, at) =>
    at % 1_000 === 7
      ? "not a user"
      : JSON.stringify({
          username: `user_${at}`,
          emails: [{ address: `user${at}@example.com`, is_primary: true }],
        }),
  );
  const text = `${lines.join("\n")}\n`;
  const { id } = (await call("POST", "/imports", {})).body;
  const size = 500_000;
  const pieces = Math.ceil(text.length / size);
  for (let number = 1; number <= pieces; number += 1) {
    const data = text.slice((number - 1) * size, number * size);
    expect((await call("PUT", `/imports/${id}/pieces/${number}`, { data })).status).toBe(200);
  }
  await call("POST", `/imports/${id}/start`, { check: false, pieces });
  await eventually(async () =>
    expect((await call("GET", `/imports/${id}`)).body.records).toBeGreaterThan(2_000),
  );
  await service.server.kill();
  // What a killed process had in hand is released as after a minute of waiting.
  for (const release of [
    "pgboss.job set started_on = started_on - interval '1 minute' where state = 'active'",
    "pgboss.queue set monitor_claim_on = monitor_claim_on - interval '1 minute'",
    "uploaded_imports set claimed_until = claimed_until - interval '1 minute'",
  ])
    await service.database.database.write.$client.query(`update ${release}`);
  await service.server.restart();
  const begun = (await call("GET", `/imports/${id}`)).body;
  expect(begun.imported).toBeLessThan(USERS - USERS / 1_000);
  await eventually(async () => expect((await call("GET", `/imports/${id}`)).body.state).toBe("imported"));
  const done = (await call("GET", `/imports/${id}`)).body;
  expect(done).toMatchObject({ imported: USERS - USERS / 1_000, refused: USERS / 1_000, failure: null });
  const listed = await call("GET", "/users?per_page=1");
  expect(listed.headers.get("x-total-count")).toBe(String(USERS - USERS / 1_000));
}, 240_000);
