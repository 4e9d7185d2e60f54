import { randomBytes } from "node:crypto";
import { isInstalled } from "../scripts/test-programs.ts";
import { freePort } from "../server/testing/free-port.ts";
import { startBalancer } from "../server/testing/reverse-proxies.ts";
import type { Surroundings } from "./drill.ts";

/** Why two servers cannot stand behind HAProxy on this machine; null if they can. */
export const balancerObstacle = () =>
  isInstalled("haproxy") ? null : "haproxy is not installed (apt-get install haproxy)";

/** Two servers over one PostgreSQL, behind HAProxy. */
export async function balanced(databaseUrl: string): Promise<Omit<Surroundings, "close">> {
  const port = await freePort();
  const front = `http://localhost:${port}`;
  return {
    env: {
      DATABASE_URL: databaseUrl,
      BASE_URL: front,
      SECRET_KEYS: randomBytes(24).toString("hex"),
      STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1",
    },
    servers: 2,
    async openFront(servers) {
      const [one, two] = servers.map((server) => Number(new URL(server.url).port));
      if (one === undefined || two === undefined) throw new Error("two servers are needed");
      const { stop } = await startBalancer(port, [one, two]);
      return { url: front, close: stop };
    },
  };
}
