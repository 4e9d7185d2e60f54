import type { Config } from "../config/schema.ts";

/** URLs of requests. */

/** Path of a request, relative to the tenant's base URL. */
const requestPath = (id: string): string => `/authenticator/v1/uaf/requests/${id}`;

/** Absolute URL of a request. */
export const requestUrl = ({ base_url }: Pick<Config, "base_url">, id: string): string =>
  base_url + requestPath(id);

/** Path where a page without an API key waits for the answer, relative to the base URL. */
export const eventsPath = (id: string, viewToken: string): string =>
  `${requestPath(id)}/events?token=${viewToken}`;

/** URL where the authenticator reads and answers the request. */
export const deviceUrl = (config: Pick<Config, "base_url">, id: string, deviceToken: string): string =>
  `${requestUrl(config, id)}?token=${deviceToken}`;

/** Content of the QR code: `authenticator.qr_code_template` with its placeholders replaced; by default `deviceUrl`. */
export function qrCodeContent(config: Config, id: string, deviceToken: string): string {
  const values: Record<string, string> = { url: deviceUrl(config, id, deviceToken), id, token: deviceToken };
  return config.authenticator.qr_code_template.replace(
    /\{(url|id|token)\}/g,
    (_, name: string) => values[name] ?? "",
  );
}
