import { headers } from "next/headers";
import { notFound } from "next/navigation";
import type { FlowType } from "#server/flow/names";
import { showError } from "#server/flow/show";
import type { PageAnswer } from "#server/http/page/page-flow";
import { pageState } from "#server/http/page/page-state";
import { pageTenant } from "#server/http/page/page-tenant";
import { pathPrefix, withinTenant } from "#server/http/tenant-path";
import { isUnknownKey } from "#server/keys/unknown-key";
import { currentRuntime } from "#server/runtime-slot";
import type { Tenant } from "#server/tenants/tenant";
import { Login } from "../components/flow/login.tsx";
import { isIdpInitiated, readProviderReturn } from "../components/flow/provider-return.ts";
import { Languages } from "./languages.tsx";
import { pageWords } from "./page-words.ts";
import { brandOf, ThemeLinks } from "./theme-links.tsx";

/** The query of a page's address, in Next's form. */
export type Query = Record<string, string | string[] | undefined>;

interface FlowPageProps {
  /** The requested flow; null for the flow that waits for the visitor, else a login. */
  type: FlowType | null;
  query: Query;
  /** Path of this page within its tenant, for instance `/account`. */
  path: string;
  /** The tenant id in the address; null for an address without one. */
  tenantId: string | null;
}

/** A hosted page: displays the browser's flow, or the first state of a flow that is not started. Reads only. */
export async function FlowPage({ type: requestedType, query, path, tenantId }: FlowPageProps) {
  const tenant = await tenantOfPage(tenantId);
  const parameters = parametersOf(query);
  const providerReturn = readProviderReturn(parameters);
  const { config } = tenant;
  const { language, words } = await pageWords(config);
  const pagePath = withinTenant(config, path);
  const { type, initial } = await selectFlow(
    tenant,
    candidates(requestedType, providerReturn !== null, isIdpInitiated(parameters)),
  );
  return (
    <Login
      key={type}
      type={type}
      initial={initial}
      {...brandOf(config)}
      signup={config.account.allow_signup}
      words={words.flow}
      language={language}
      base={pathPrefix(config)}
      address={new URL(pagePath, config.base_url).href}
      providerReturn={providerReturn}
      relyingParty={config.webauthn.relying_party.id}
    >
      <ThemeLinks config={config} />
      <Languages
        current={language}
        label={words.flow.page.languages}
        address={requestedType && path === "/" ? `${pagePath}?flow=${requestedType}` : pagePath}
      />
    </Login>
  );
}

/**
 * Finds the tenant of a page, or displays the page for unknown addresses.
 *
 * @param id the tenant id in the address
 */
export async function tenantOfPage(id: string | null): Promise<Tenant> {
  const tenant = await pageTenant(currentRuntime(), (await headers()).get("host"), id);
  return tenant ?? notFound();
}

/** Converts a query from Next's form. Repeated parameters are kept. */
export function parametersOf(query: Query): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(pairs);
}

/** The flows that this page may display. A return from a provider belongs to one of them. */
function candidates(requestedType: FlowType | null, isReturn: boolean, idpInitiated: boolean): FlowType[] {
  if (idpInitiated) return ["token_exchange"];
  if (requestedType) return [requestedType];
  return isReturn ? ["login", "registration"] : ["login"];
}

/** Selects, of several flows, the one that waits for a provider's answer; else the first. */
async function selectFlow(
  tenant: Tenant,
  types: FlowType[],
): Promise<{ type: FlowType; initial: PageAnswer }> {
  const cookies = (await headers()).get("cookie");
  const pages = await Promise.all(
    types.map(async (type) => ({ type, initial: await state(tenant, type, cookies) })),
  );
  const [first] = pages;
  const awaiting = pages.find(({ initial }) => Object.hasOwn(initial.state.actions, "exchange_token"));
  const page = awaiting ?? first;
  if (!page) throw new Error("a page has at least one candidate flow");
  return page;
}

/** Reads the state to display. An unexpected error becomes an error state. */
async function state(tenant: Tenant, type: FlowType, cookies: string | null): Promise<PageAnswer> {
  const runtime = currentRuntime();
  try {
    return await pageState(runtime, tenant, cookies, type);
  } catch (error) {
    if (isUnknownKey(error, runtime.log)) return { version: 0, state: showError("temporarily_unavailable") };
    runtime.log.error({ err: error }, "displaying the page failed");
    return { version: 0, state: showError("technical_error") };
  }
}
