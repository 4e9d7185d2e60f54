import type { RunningServer } from "./server.ts";
import { startService } from "./service.ts";

/** A running server with the tenant id and API key of an application that uses its passkey server. */
export interface PasskeyService {
  server: RunningServer;
  /** `<server>/passkeys` */
  base: string;
  tenantId: string;
  key: string;
  close(): Promise<void>;
}

/** @param settings environment variables of the server */
export async function startPasskeyService(settings: Record<string, string> = {}): Promise<PasskeyService> {
  const { server, stile, close } = await startService(settings);
  return {
    server,
    base: `${server.url}/passkeys`,
    // The fixed id of the default tenant.
    tenantId: "00000000-0000-4000-8000-000000000001",
    key: await stile("keys", "create", "--interface", "passkeys"),
    close,
  };
}
