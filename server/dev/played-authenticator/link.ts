import type { RequestLink } from "./player.ts";

/**
 * Reads the link that a QR code carries: `<base>/authenticator/v1/uaf/requests/<id>?token=<device token>`.
 *
 * @param text as somebody pasted it
 * @param baseUrl of this server; a link to any other is none
 * @returns null for everything else
 */
export function readLink(text: string, baseUrl: string): (RequestLink & { id: string }) | null {
  const link = URL.parse(text.trim());
  if (!link || link.origin !== new URL(baseUrl).origin) return null;
  const id = /\/authenticator\/v1\/uaf\/requests\/([A-Za-z0-9]{1,64})$/.exec(link.pathname)?.[1];
  const token = link.searchParams.get("token");
  if (!id || !token || !/^[A-Za-z0-9._~+/=-]{1,128}$/.test(token)) return null;
  return { id, token, href: link.origin + link.pathname };
}
