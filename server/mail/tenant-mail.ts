import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { onceFor } from "../lib/once-for.ts";
import { createTurns } from "../limits/turns.ts";
import { createMailTransport } from "./create-transport.ts";
import { createMailWriter } from "./mail-writer.ts";
import { createSmtpTransport, MAX_CONNECTIONS } from "./smtp-transport.ts";
import type { MailTransport } from "./transport.ts";

/** Mail servers whose connections are kept; those used least recently are closed first. */
export const MAX_TRANSPORTS = 100;

/** Mails that wait for a connection to a tenant's own server. With those being sent, half of what one queue sends at once. */
const MAX_WAITING_OF_OWN_SERVER = 5;

/** The same for a tenant that changes its server: a new one begins with all its places free. */
const ownServers = { running: MAX_CONNECTIONS + MAX_WAITING_OF_OWN_SERVER, waiting: 0 };

/** How mails of each tenant are written and sent. */
export type TenantMail = ReturnType<typeof createTenantMail>;

/**
 * Creates the mail senders of a process. The default tenant's transport is opened at once, so that an invalid one
 * stops the start. Tenants with the same mail server share connections.
 *
 * @throws ConfigError if the address of the mail server cannot be parsed
 */
export function createTenantMail(byDefault: Tenant, database: Database) {
  /** Those used last are last. */
  const transports = new Map<string, MailTransport>();
  const turns = createTurns({ enabled: true });

  const hasOwnServer = ({ config }: Tenant) => config.smtp_url !== byDefault.config.smtp_url;

  function senderOf({ config: { email_delivery, service } }: Tenant) {
    return { name: email_delivery.from_name ?? service.name, address: email_delivery.from_address };
  }

  function transportOf(tenant: Tenant): MailTransport {
    const { config } = tenant;
    const key = config.smtp_url ?? "";
    const maxWaiting = hasOwnServer(tenant) ? MAX_WAITING_OF_OWN_SERVER : undefined;
    const transport = transports.get(key) ?? createMailTransport(config, database, maxWaiting);
    transports.delete(key);
    transports.set(key, transport);
    const [oldest] = transports;
    if (transports.size > MAX_TRANSPORTS && oldest) {
      transports.delete(oldest[0]);
      oldest[1].close();
    }
    return transport;
  }

  const writerOf = onceFor(({ config: { service, base_url, words } }: Tenant) =>
    createMailWriter({ service: service.name, host: new URL(base_url).host, words }),
  );

  /** @throws ConfigError if the address of its mail server cannot be parsed */
  const of = (tenant: Tenant) => ({
    from: senderOf(tenant),
    write: writerOf(tenant),
    transport: transportOf(tenant),
  });

  of(byDefault);
  return {
    of,
    /** @returns a function that must be called when the mail is sent; null if a tenant with its own server has too many */
    takePlace: async (tenant: Tenant) =>
      hasOwnServer(tenant) ? turns.take(tenant.id, ownServers) : () => {},
    close() {
      for (const transport of transports.values()) transport.close();
    },
  };
}

/**
 * Checks that the address of a mail server can be parsed; does not connect.
 *
 * @throws ConfigError if it cannot
 */
export function checkMailServer({ smtp_url }: Config): void {
  if (smtp_url) createSmtpTransport(smtp_url).close();
}
