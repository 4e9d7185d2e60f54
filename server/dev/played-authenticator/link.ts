import type { RequestLink } from "./player.ts";

/**
 * Parses the link of a QR code: `<base>/authenticator/v1/uaf/requests/<id>?token=<device token>`.
 *
 * @param text as pasted
 * @param baseUrl of this server
 * @returns null for anything else, and for links to other servers
 */
export function readLink(text: string, baseUrl: string): (RequestLink & { id: string }) | null {
  const link = URL.parse(text.trim());
  if (!link || link.origin !== new URL(baseUrl).origin) return null;
  const id = /\/authenticator\/v1\/uaf\/requests\/([A-Za-z0-9]{1,64})$/.exec(link.pathname)?.[1];
  const token = link.searchParams.get("token");
  if (!id || !token || !/^[A-Za-z0-9._~+/=-]{1,128}$/.test(token)) return null;
  return { id, token, href: link.origin + link.pathname };
}
