import { join } from "node:path";
import { configSchema } from "../server/config/schema.ts";
import { createMailWriter } from "../server/mail/mail-writer.ts";
import type { BareSettings } from "./bare/settings.ts";
import { type ForkedServer, forkServer } from "./fork-server.ts";
import { tenantId } from "./people.ts";
import type { Setting } from "./setting.ts";
import type { WorldAddresses } from "./world.ts";

/** Starts the hand-made server beside a running Stile. */
export async function startBare(
  url: string,
  setting: Setting,
  world: WorldAddresses,
  databaseUrl: string,
): Promise<ForkedServer> {
  const token = setting.cookie.slice(setting.cookie.indexOf("=") + 1);
  const [header = {}, claims = {}] = token
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, string>);
  const page = await fetch(url, { headers: { accept: "text/html" } });
  const { memory, passes } = configSchema.shape.password.parse({}).hash;
  const writeMail = createMailWriter({ service: "Stile", host: new URL(setting.origin).host });
  const settings: BareSettings = {
    databaseUrl,
    tenantId,
    sessionId: claims.session_id ?? "",
    origin: setting.origin,
    smtp: world.smtp,
    provider: world.provider,
    certificate: world.certificate,
    totp: setting.totp,
    hash: { memory, passes },
    algorithm: header.alg as BareSettings["algorithm"],
    // What is random in it is so in every answer.
    page: (await page.text())
      .replaceAll(/nonce="[^"]*"/g, 'nonce="{{random}}"')
      .replace(/"challenge":"[^"]*"/, '"challenge":"{{challenge}}"'),
    mail: writeMail({ type: "login", code: "{{code}}", ttlSeconds: 300 }, "en"),
  };
  return forkServer(join(import.meta.dirname, "bare/server.ts"), settings);
}
