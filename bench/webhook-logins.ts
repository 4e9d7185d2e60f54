import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { flowClient } from "../server/testing/flow-client.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { runStile } from "../server/testing/stile.ts";

/** Milliseconds of a login, from the start of its flow to its session. */
export interface LoginTimes {
  median: number;
  p95: number;
  mean: number;
}

const WEBHOOKS = 5;
const ROUNDS = 12;
const LOGINS_PER_ROUND = 12;

/**
 * Measures logins with a password, one after the other: in turns without a webhook, and with five that are subscribed to
 * every event. Both run on one server, so that both meet the same load of the machine.
 *
 * @param account a registered one
 */
export async function measureLogins(
  server: RunningServer,
  account: { email: string; password: string },
): Promise<{ without: LoginTimes; withWebhooks: LoginTimes }> {
  const receivers = fork(join(import.meta.dirname, "webhook-receivers.ts"));
  const [{ port }] = (await once(receivers, "message")) as [{ port: number }];
  const { out } = await runStile(["keys", "create", "--interface", "admin"], {
    cwd: server.dataDir,
    env: server.environment,
  });
  const call = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${server.url}/admin/webhooks${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${out.trim()}` },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const events = ["user", "session", "email.send"];
  const webhooks: { id: string; callback: string }[] = [];
  for (let index = 0; index < WEBHOOKS; index += 1)
    webhooks.push(await call("POST", "", { callback: `http://127.0.0.1:${port}/${index}`, events }));
  const enable = async (enabled: boolean) => {
    for (const { id, callback } of webhooks) await call("PUT", `/${id}`, { callback, events, enabled });
  };

  const times: Record<"without" | "withWebhooks", number[]> = { without: [], withWebhooks: [] };
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    await enable(round % 2 === 1);
    // The first login of a round finds cold caches.
    await logIn(server.url, account);
    for (let login = 0; login < LOGINS_PER_ROUND; login += 1) {
      const startedAt = performance.now();
      await logIn(server.url, account);
      times[round % 2 === 1 ? "withWebhooks" : "without"].push(performance.now() - startedAt);
    }
  }
  await enable(false);
  receivers.disconnect();
  return { without: summaryOf(times.without), withWebhooks: summaryOf(times.withWebhooks) };
}

async function logIn(url: string, { email, password }: { email: string; password: string }): Promise<void> {
  const client = flowClient(url);
  await client.start("login");
  await client.act("register_client_capabilities");
  await client.act("continue_with_login_identifier", { email });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  while (client.state.actions.skip) await client.act("skip");
  if (client.state.name !== "success") throw new Error(`a login ended in ${JSON.stringify(client.state)}`);
}

function summaryOf(times: number[]): LoginTimes {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? 0;
  return {
    median: at(0.5),
    p95: at(0.95),
    mean: sorted.reduce((sum, each) => sum + each, 0) / sorted.length,
  };
}
