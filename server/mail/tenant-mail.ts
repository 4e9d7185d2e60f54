import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { createMailTransport } from "./create-transport.ts";
import { createMailWriter, type MailWriter } from "./mail-writer.ts";
import { createSmtpTransport } from "./smtp-transport.ts";
import type { MailTransport } from "./transport.ts";

/** How mails of a tenant are rendered and sent. */
export interface MailSender {
  write: MailWriter;
  transport: MailTransport;
}

/** The mail senders of all tenants. */
export interface TenantMail {
  /** @throws ConfigError if the address of its mail server cannot be parsed */
  of(tenant: Tenant): MailSender;
  close(): void;
}

/**
 * Creates the mail senders of a process. The default tenant's transport is opened at once, so that an invalid one
 * stops the start. Tenants with the same mail server and sender share connections.
 *
 * @throws ConfigError if the address of the mail server cannot be parsed
 */
export function createTenantMail(byDefault: Tenant, database: Database): TenantMail {
  const senders = new WeakMap<Tenant, MailSender>();
  const transports = new Map<string, MailTransport>();

  function transportOf({ config }: Tenant): MailTransport {
    const { smtp_url, email_delivery, service } = config;
    const key = JSON.stringify([
      smtp_url,
      email_delivery.from_address,
      email_delivery.from_name ?? service.name,
    ]);
    const known = transports.get(key);
    if (known) return known;
    const made = createMailTransport(config, database);
    transports.set(key, made);
    return made;
  }

  const of = (tenant: Tenant): MailSender => {
    const known = senders.get(tenant);
    if (known) return known;
    const { service, base_url, words } = tenant.config;
    const made = {
      write: createMailWriter({ service: service.name, host: new URL(base_url).host, words }),
      transport: transportOf(tenant),
    };
    senders.set(tenant, made);
    return made;
  };

  of(byDefault);
  return {
    of,
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
export function checkMailServer({ smtp_url, email_delivery }: Config): void {
  if (smtp_url) createSmtpTransport(smtp_url, { name: "", address: email_delivery.from_address }).close();
}
