import { passkeyNames } from "#words/passkey-names";
import type { RequestContext } from "../../context/context.ts";
import { readUserAgent } from "../../lib/user-agent.ts";
import { originOf } from "../../sessions/use-origin.ts";

/**
 * Names a passkey of an unknown provider by the browser that created it, in the language of its owner: "Passkey in Chrome
 * on Linux".
 *
 * @returns null if the browser is not known, or the settings say that it is not stored
 */
export function passkeyName(context: Pick<RequestContext<unknown>, "tenant" | "client">): string | null {
  const { userAgent } = originOf(context);
  const { browser, system } = readUserAgent(userAgent ?? "");
  if (!browser || !system) return null;
  const text = passkeyNames[context.client.language ?? "en"];
  return text.replace("{browser}", browser).replace("{system}", system);
}
