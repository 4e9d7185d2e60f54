import type { BootedRuntime } from "./boot.ts";

/**
 * Says that the server runs and where: in production as one line of the log, in development as lines for the
 * person at the keyboard. Warns of what production should not do without.
 */
export function announce({ config, embedded, log }: BootedRuntime): void {
  const address = config.base_url;
  if (config.mode === "production") {
    log.info(
      { address, tenant: config.tenant.id, ...(embedded ? { database: embedded.directory } : {}) },
      "listening",
    );
    if (!config.smtp_url) log.warn("SMTP_URL is missing: mail is not sent, so users receive no codes");
    if (!address.startsWith("https:"))
      log.warn(
        "BASE_URL is not https: cookies are not Secure, and browsers offer no passkeys but on localhost",
      );
    if (!config.rate_limiter.enabled)
      log.warn("STILE_RATE_LIMITER_ENABLED is false: codes and passwords can be tried at any rate");
    return;
  }
  const lines = [
    "",
    `  ${config.service.name} is ready, in development mode: NODE_ENV is not production.`,
    "",
    `  Page      ${address}`,
    ...(config.smtp_url
      ? []
      : [`  Mailbox   ${address}/dev/mailbox (there is no SMTP_URL, so mail stays here)`]),
    `  Phone     ${address}/dev/authenticator (plays an authenticator app)`,
    `  Tenant    ${config.tenant.id}`,
    ...(embedded
      ? [`  Database  ${embedded.directory}${embedded.adopted ? " (was still running)" : ""}`]
      : []),
    ...(config.secret_keys.length > 0 ? [] : [`  Secrets   made up, kept in ${config.data_dir}`]),
    "",
    "",
  ];
  process.stdout.write(lines.join("\n"));
}
