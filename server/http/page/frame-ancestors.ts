import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { FlowType } from "../../flow/names.ts";
import type { AuthorizationPayload, FlowState } from "../../flow/wire.ts";
import type { Runtime } from "../../runtime.ts";
import { isOfProvider, sharesSessionCookie } from "./destination.ts";
import type { PageAnswer } from "./page-answer.ts";
import { openPageCookie } from "./page-cookie.ts";

/**
 * The origins in whose frames our own page may show a flow (RFC 9700, 4.16): where an authorization request, or the code of a
 * device, waits for it, those on the list that receive the session cookie, so that a frame gives them nothing more. A client
 * that is not the operator's own cannot frame the question whether its user allows it something.
 *
 * @param cookies the `Cookie` header of the page's request
 * @param answer the state that the page shows
 */
export async function frameAncestors(
  runtime: Runtime,
  tenant: Tenant,
  cookies: string | null,
  type: FlowType,
  answer: PageAnswer,
): Promise<readonly string[]> {
  const { config } = tenant;
  const origins = config.embed.origins.filter((origin) => isOfOurSite(new URL(origin), config));
  if (origins.length === 0 || !(await isForRequest(runtime, tenant, cookies, type, answer))) return [];
  const clientId = askingClient(answer.state);
  const others = clientId === null ? [] : await runtime.openid.originsOfClient(tenant, clientId);
  return origins.filter((origin) => !others.includes(origin));
}

/** Whether browsers send our cookies in frames of an origin, which is of another site by http than by https. */
const isOfOurSite = (origin: URL, config: Config): boolean =>
  origin.protocol === new URL(config.base_url).protocol && sharesSessionCookie(origin, config);

/** Whether a flow goes on to the OpenID provider: to an authorization request, or to the page of the codes of devices. */
async function isForRequest(
  runtime: Runtime,
  tenant: Tenant,
  cookies: string | null,
  type: FlowType,
  { redirect_to }: PageAnswer,
): Promise<boolean> {
  if (type === "consent") return tenant.config.openid.enabled;
  if (type !== "login" && type !== "registration") return false;
  // A sign-in that has succeeded has no destination any more, and leads there.
  const to = redirect_to ?? (await openPageCookie(runtime, tenant, "destination", cookies))?.to;
  return to !== undefined && isOfProvider(new URL(to), tenant.config);
}

/** The client that a state asks its user about; null if it asks about none. */
function askingClient({ payload }: FlowState): string | null {
  const { authorization } = payload as { authorization?: AuthorizationPayload };
  return authorization?.client.id ?? null;
}
