import { withinTenant } from "#server/http/tenant-path";
import { confirmationPage } from "#server/passkey-server/confirmation";
import { dataView } from "#server/passkey-server/confirmation-view";
import { visibleLine } from "#server/passkey-server/visible-text";
import { currentRuntime } from "#server/runtime-slot";
import type { Tenant } from "#server/tenants/tenant";
import type { PageLanguage } from "#words/language-tags";
import { Confirmation, type ConfirmationProps } from "../../components/confirmation/confirmation.tsx";
import { parametersOf, type Query, tenantOfPage } from "../flow-page.tsx";
import { Languages } from "../languages.tsx";
import { pageWords } from "../page-words.ts";
import { brandOf, ThemeLinks } from "../theme-links.tsx";

/**
 * The page on which a user confirms or declines a transaction. Displaying it changes nothing.
 *
 * @param tenantId the tenant id in the address; null for an address without one
 */
export async function ConfirmationPage({ tenantId, query }: { tenantId: string | null; query: Query }) {
  const tenant = await tenantOfPage(tenantId);
  const { config } = tenant;
  const { language, words } = await pageWords(config);
  const token = parametersOf(query).get("token") ?? "";
  const pagePath = withinTenant(config, "/confirm");
  return (
    <Confirmation
      words={words.confirmation}
      language={language}
      {...brandOf(config)}
      address={`/passkeys/${tenant.id}/transaction/confirm`}
      content={await contentOf(tenant, token, language)}
    >
      <ThemeLinks config={config} />
      <Languages
        current={language}
        label={words.flow.page.languages}
        address={token === "" ? pagePath : `${pagePath}?${new URLSearchParams({ token })}`}
      />
    </Confirmation>
  );
}

/**
 * The page for a token that does not exist.
 *
 * @param path of the requested page
 */
export async function UnknownConfirmationPage({ path }: { path: string }) {
  const [, tenantId = null] = /^\/t\/([^/]+)/.exec(path) ?? [];
  const tenant = await tenantOfPage(tenantId);
  const { language, words } = await pageWords(tenant.config);
  return (
    <Confirmation
      words={words.confirmation}
      language={language}
      {...brandOf(tenant.config)}
      address={`/passkeys/${tenant.id}/transaction/confirm`}
      content={{ end: "unknown" }}
    >
      <ThemeLinks config={tenant.config} />
      <Languages
        current={language}
        label={words.flow.page.languages}
        address={withinTenant(tenant.config, "/confirm")}
      />
    </Confirmation>
  );
}

async function contentOf(
  tenant: Tenant,
  token: string,
  language: PageLanguage,
): Promise<ConfirmationProps["content"]> {
  const runtime = currentRuntime();
  const page = await confirmationPage({ runtime, tenant }, token);
  if (page.state === "confirmed" || page.state === "declined") {
    const { state: end, returnsTo } = page;
    if (returnsTo !== null) return { answered: { token, end, returnsTo } };
    return { end: end === "confirmed" ? "answered" : end };
  }
  if (page.state !== "open") return { end: page.state };
  const { application, user, returnsTo, publicKey } = page;
  return {
    question: {
      token,
      // These names come from the application, and may contain misleading characters.
      application: visibleLine(application),
      user: { name: visibleLine(user.name), displayName: visibleLine(user.displayName) },
      ...dataView(page.transactionId, page.data, language),
      returnsTo,
      options: publicKey,
    },
  };
}
