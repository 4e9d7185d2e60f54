import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { createMailTransport } from "./create-transport.ts";
import { createMailWriter, type MailWriter } from "./mail-writer.ts";
import { createSmtpTransport } from "./smtp-transport.ts";
import type { MailTransport } from "./transport.ts";

/** How a tenant's mails are put into words, and by which way they go. */
export interface MailSender {
  write: MailWriter;
  transport: MailTransport;
}

/** Every tenant's mailing. */
export interface TenantMail {
  /** @throws ConfigError when the address of its mail server cannot be read */
  of(tenant: Tenant): MailSender;
  close(): void;
}

/**
 * Makes the table of a process; the default tenant's way is opened at once, so that a wrong one stops the start.
 * Tenants of one mail server and one sender share its connections.
 *
 * @throws ConfigError when the address of the mail server cannot be read
 */
export function createTenantMail(byDefault: Tenant, database: Database): TenantMail {
  const mailings = new WeakMap<Tenant, MailSender>();
  const transports = new Map<string, MailTransport>();

  function transportOf({ config }: Tenant): MailTransport {
    const { smtp_url, email_delivery, service } = config;
    const way = JSON.stringify([
      smtp_url,
      email_delivery.from_address,
      email_delivery.from_name ?? service.name,
    ]);
    const known = transports.get(way);
    if (known) return known;
    const made = createMailTransport(config, database);
    transports.set(way, made);
    return made;
  }

  const of = (tenant: Tenant): MailSender => {
    const known = mailings.get(tenant);
    if (known) return known;
    const { service, base_url } = tenant.config;
    const made = {
      write: createMailWriter({ service: service.name, host: new URL(base_url).host }),
      transport: transportOf(tenant),
    };
    mailings.set(tenant, made);
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
 * Makes sure that the address of a mail server can be read; connects to nothing.
 *
 * @throws ConfigError when it cannot
 */
export function checkMailServer({ smtp_url, email_delivery }: Config): void {
  if (smtp_url) createSmtpTransport(smtp_url, { name: "", address: email_delivery.from_address }).close();
}
