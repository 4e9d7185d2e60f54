import type { Config } from "../config/schema.ts";
import type { FlowLink } from "./wire.ts";

/** Names of links. Pages translate them. */
const linkNames = ["terms", "privacy", "help"] as const;

/** The links of the configuration, in every state; null without any. */
export function linksOf({ links }: Config): FlowLink[] | null {
  const configured = linkNames.flatMap((name): FlowLink[] => {
    const href = links[name];
    return href ? [{ name, href, category: name === "help" ? "other" : "legal", target: "_blank" }] : [];
  });
  return configured.length > 0 ? configured : null;
}
