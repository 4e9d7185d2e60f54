import { sha256 } from "../lib/sha256.ts";
import type { Tree } from "../lib/tree.ts";

/** What tells the SAML providers of a tenant apart. Another version may have stored them, so their members may be anything. */

/** The id of a provider. Without one, it is a UUID of version 8 (RFC 9562, 5.8) from the first domain, which no other has. */
export function samlProviderId(provider: Tree): string {
  if (typeof provider.id === "string") return provider.id;
  const hex = sha256(`saml provider ${domainsOf(provider)[0]}`).toString("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}

/** The mail domains of a provider. */
export const domainsOf = ({ domain, domains }: Tree): string[] =>
  [domain, domains].flat().filter((name): name is string => typeof name === "string" && name !== "");
