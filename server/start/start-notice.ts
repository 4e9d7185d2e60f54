import type { Config } from "../config/schema.ts";
import { CONSOLE_PATH, consoleOrigin } from "../console/place.ts";
import { keepsSms } from "../sms/create-transport.ts";
import { themeWarnings } from "../theme/theme-css.ts";
import type { BootedRuntime } from "./boot.ts";
import { METRICS_HOST } from "./metrics-port.ts";
import { uselessSettings } from "./useless-settings.ts";

/**
 * Reports that the server is ready and its address: in production as one log line, in development as text for the
 * developer. Logs a warning for each setting without effect, and in production for each missing recommended
 * setting.
 *
 * @param link makes the first operator of the console; null if there is one
 */
export function printStartNotice({ config, embedded, log }: BootedRuntime, link: string | null): void {
  const address = config.base_url;
  for (const line of [...uselessSettings(config), ...themeWarnings(config.theme)]) log.warn(line);
  if (config.mode === "production") {
    log.info(
      { address, tenant: config.tenant.id, ...(embedded ? { database: embedded.directory } : {}) },
      "listening",
    );
    if (link !== null)
      log.info(
        { link },
        "the console has no operator: this link makes the first one, once, within ten minutes",
      );
    if (!config.smtp_url && config.email_delivery.enabled)
      log.warn("SMTP_URL is missing: mail is not sent, so users receive no codes");
    if (!address.startsWith("https:"))
      log.warn(
        "BASE_URL is not https: cookies are not Secure, and browsers offer passkeys only on localhost",
      );
    if (!config.rate_limiter.enabled)
      log.warn("STILE_RATE_LIMITER_ENABLED is false: codes and passwords can be guessed at any rate");
    if (config.webhooks.allow_private_targets)
      log.warn(
        "STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS is true: administrators of tenants can make the server post to your network",
      );
    if (config.openid.allow_private_targets)
      log.warn(
        "STILE_OPENID_ALLOW_PRIVATE_TARGETS is true: applications can make the server read from your network",
      );
    return;
  }
  const lines = [
    "",
    `  ${config.service.name} is ready, in development mode: NODE_ENV is not production.`,
    "",
    `  Page      ${address}`,
    ...mailboxLines(config),
    `  Phone     ${address}/dev/authenticator (simulates an authenticator app)`,
    `  Tenant    ${config.tenant.id}`,
    ...consoleLines(config, link),
    ...metricsLines(config),
    ...(embedded
      ? [`  Database  ${embedded.directory}${embedded.adopted ? " (was still running)" : ""}`]
      : []),
    ...(config.secret_keys.length > 0 ? [] : [`  Secrets   generated, stored in ${config.data_dir}`]),
    "",
    "",
  ];
  process.stdout.write(lines.join("\n"));
}

function consoleLines(config: Config, link: string | null): string[] {
  if (link !== null) return [`  Console   ${link} (makes the first operator, once, within ten minutes)`];
  return config.console.enabled ? [`  Console   ${consoleOrigin(config)}${CONSOLE_PATH}`] : [];
}

function metricsLines({ metrics: { host = METRICS_HOST, port } }: Config): string[] {
  if (port === undefined) return [];
  return [`  Metrics   http://${host.includes(":") ? `[${host}]` : host}:${port}/metrics`];
}

function mailboxLines(config: Config): string[] {
  const keepsMail = !config.smtp_url && config.email_delivery.enabled;
  const reasons = [
    ...(keepsMail ? ["SMTP_URL is not set, so mail is kept here"] : []),
    ...(keepsSms(config) ? ["STILE_SMS_DELIVERY_ACCOUNT_SID is not set, so SMS are kept here"] : []),
  ];
  return reasons.length > 0 ? [`  Mailbox   ${config.base_url}/dev/mailbox (${reasons.join("; ")})`] : [];
}
