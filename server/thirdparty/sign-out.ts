import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import { ThirdPartyError } from "../failures/third-party.ts";
import type { ProviderSignOut } from "../sessions/provider-sessions.ts";
import { endSessionUrl } from "./oauth.ts";
import type { Process } from "./process.ts";
import { findProvider } from "./providers/index.ts";
import { samlProviderId } from "./saml/attribute-mapping.ts";
import { samlLogoutUrl } from "./saml/single-logout.ts";

/**
 * Whether signing out ends the session at a provider too. Of a SAML provider, whose entity id its metadata may tell alone,
 * whether it does so at any of them.
 */
export function endsSessionAt(config: Config, provider: string): boolean {
  return provider.startsWith(samlProviderId(""))
    ? config.saml.identity_providers.some(({ single_logout }) => single_logout === true)
    : (findProvider(config, provider)?.endsSession ?? false);
}

/**
 * Returns the address at which the browser ends its session at the provider. The session here has ended before: a provider that
 * cannot be used at the moment, or no longer ends sessions, is passed over.
 *
 * @param state of the sign-out
 * @returns null if the browser cannot be sent to the provider
 */
export async function providerSignOutUrl(
  context: TenantContext<Process>,
  { provider, session }: ProviderSignOut,
  state: string,
  now: Date,
): Promise<string | null> {
  const { runtime, tenant } = context;
  try {
    const url =
      "nameId" in session
        ? await samlLogoutUrl(context, { provider, session, state }, now)
        : await openIdLogoutUrl(context, provider, { idToken: session.idToken, state });
    if (url === null)
      runtime.log.warn({ tenant: tenant.id, provider }, "the provider has no usable address to sign out at");
    return url;
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    const { reason, detail } = error;
    runtime.log.warn(
      { tenant: tenant.id, provider, reason, detail },
      "the provider could not be asked to sign out",
    );
    return null;
  }
}

async function openIdLogoutUrl(
  context: TenantContext<Process>,
  id: string,
  about: { idToken: string | undefined; state: string },
): Promise<string | null> {
  const provider = findProvider(context.tenant.config, id);
  const url = provider?.endsSession ? await endSessionUrl(context, provider, about) : null;
  return url?.href ?? null;
}
