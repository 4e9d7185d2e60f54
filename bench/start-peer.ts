import { type ChildProcess, fork } from "node:child_process";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeCoseKey } from "../server/testing/cose-key.ts";
import { PEER_CODE } from "./peer-ways.ts";
import { addressOf, credentialIdOf, type Kind, kinds } from "./people.ts";
import type { Setting } from "./setting.ts";

const folder = join(import.meta.dirname, "peer");

/** What `peer/server.js` is started with. */
interface PeerSettings {
  databaseUrl: string;
  /** Where its passkeys are used. */
  origin: string;
  /** Every code that it makes. */
  code: string;
  password: string;
  /** COSE_Key of all passkeys, base64. */
  publicKey: string;
  users: { email: string; credentialId: string | null }[];
}

/** Version of the installed better-auth; null if it is not installed, or if `BENCH_PEER` is 0. */
export function peerVersion(): string | null {
  const file = join(folder, "node_modules/better-auth/package.json");
  if (process.env.BENCH_PEER === "0" || !existsSync(file)) {
    if (process.env.BENCH_PEER === "1") throw new Error("better-auth is not installed: see bench/README.md");
    return null;
  }
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/**
 * Starts better-auth with the users of the benchmark.
 *
 * @param databaseUrl an empty database
 */
export async function startPeer(
  setting: Setting,
  databaseUrl: string,
): Promise<{ url: string; child: ChildProcess }> {
  const publicKey = createPublicKey(createPrivateKey(setting.passkey));
  const used: Kind[] = ["code", "password", "passkey"];
  const settings: PeerSettings = {
    databaseUrl,
    origin: setting.origin,
    code: PEER_CODE,
    password: setting.password,
    publicKey: encodeCoseKey(publicKey.export({ format: "jwk" }), -7).toString("base64"),
    users: used.flatMap((kind) =>
      Array.from({ length: kinds[kind] }, (_, index) => ({
        email: addressOf(kind, index),
        credentialId: kind === "passkey" ? credentialIdOf(index) : null,
      })),
    ),
  };
  const child = fork(join(folder, "server.js"), {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production" },
  });
  child.send(settings);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  // Its origin is localhost; the connection has to be made to the address it listens on.
  return { url: `http://127.0.0.1:${port}`, child };
}
