import { expect, onTestFinished, test } from "vitest";
import { startService } from "../testing/service.ts";

/** Tests of the built server. They need `npm run build`. */

test.each([
  ["a server of one process", {}],
  ["a server whose workers serve", { STILE_SERVER_WORKERS: "2" }],
])("%s writes what it has counted when it stops", { timeout: 120_000 }, async (_, settings) => {
  const { server, stile, close } = await startService(settings);
  onTestFinished(close);
  const key = await stile("keys", "create", "--interface", "admin", "--name", "operator");
  const starts = Array.from({ length: 8 }, () => fetch(`${server.url}/login`, { method: "POST" }));
  expect((await Promise.all(starts)).map(({ status }) => status)).toEqual(Array(8).fill(200));
  await server.restart();
  const answer = await fetch(`${server.url}/admin/funnel`, { headers: { authorization: `Bearer ${key}` } });
  const { states } = await answer.json();
  expect(states).toMatchObject([{ state: "preflight", entered: 8, left: 0, given_up: 0, open: 8 }]);
  const overview = await fetch(`${server.url}/admin/overview`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await overview.json()).toMatchObject({ messages: { mail: { waiting: { count: 0 } } } });
});
