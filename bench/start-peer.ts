import { createPrivateKey, createPublicKey } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeCoseKey } from "../server/testing/cose-key.ts";
import { type ForkedServer, forkServer } from "./fork-server.ts";
import { PEER_CODE } from "./peer-ways.ts";
import { addressOf, credentialIdOf, type Kind, kinds } from "./people.ts";
import type { Setting } from "./setting.ts";

const folder = join(import.meta.dirname, "peer");

/** What `peer/server.js` is started with. */
interface PeerSettings {
  databaseUrl: string;
  /** Where its passkeys are used. */
  origin: string;
  /** Every code that it makes, if it sends none. */
  code: string;
  /** Mail server that it sends its codes to; null if it sends none. */
  smtp: string | null;
  password: string;
  /** COSE_Key of all passkeys, base64. */
  publicKey: string;
  users: { email: string; credentialId: string | null }[];
}

/** Version of better-auth, or of a plugin, that is installed; null if it is not, or if `BENCH_PEER` is 0. */
export function peerVersion(name = "better-auth"): string | null {
  const file = join(folder, "node_modules", name, "package.json");
  if (process.env.BENCH_PEER === "0" || !existsSync(file)) {
    if (process.env.BENCH_PEER === "1") throw new Error(`${name} is not installed: see bench/README.md`);
    return null;
  }
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/**
 * Starts better-auth with the users of the benchmark.
 *
 * @param databaseUrl an empty database
 * @param smtp mail server that it sends its codes to; null if it sends none
 */
export async function startPeer(
  setting: Setting,
  databaseUrl: string,
  smtp: string | null,
): Promise<ForkedServer> {
  const publicKey = createPublicKey(createPrivateKey(setting.passkey));
  const used: Kind[] = ["code", "password", "passkey"];
  const settings: PeerSettings = {
    databaseUrl,
    origin: setting.origin,
    code: PEER_CODE,
    smtp,
    password: setting.password,
    publicKey: encodeCoseKey(publicKey.export({ format: "jwk" }), -7).toString("base64"),
    users: used.flatMap((kind) =>
      Array.from({ length: kinds[kind] }, (_, index) => ({
        email: addressOf(kind, index),
        credentialId: kind === "passkey" ? credentialIdOf(index) : null,
      })),
    ),
  };
  const env = { ...process.env, NODE_ENV: "production" as const };
  return forkServer(join(folder, "server.js"), settings, { cwd: folder, env });
}
