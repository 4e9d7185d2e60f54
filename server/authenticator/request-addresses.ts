import type { Config } from "../config/schema.ts";

/** Addresses of requests, as those who are handed them reach them. */

/** Path of a request below a tenant's base address. */
export const requestPath = (id: string): string => `/authenticator/v1/uaf/requests/${id}`;

/** The request, in full. */
export const requestUrl = ({ base_url }: Pick<Config, "base_url">, id: string): string =>
  base_url + requestPath(id);

/** Where a page that holds no key waits for the answer; below the base address. */
export const eventsPath = (id: string, viewToken: string): string =>
  `${requestPath(id)}/events?token=${viewToken}`;

/** Where the phone finds the request and answers it. */
export const deviceUrl = (config: Pick<Config, "base_url">, id: string, deviceToken: string): string =>
  `${requestUrl(config, id)}?token=${deviceToken}`;

/** What a QR code says: `authenticator.qr_code_template` filled in; by default the phone's address alone. */
export function qrCodeContent(config: Config, id: string, deviceToken: string): string {
  const values: Record<string, string> = { url: deviceUrl(config, id, deviceToken), id, token: deviceToken };
  return config.authenticator.qr_code_template.replace(
    /\{(url|id|token)\}/g,
    (_, name: string) => values[name] ?? "",
  );
}
