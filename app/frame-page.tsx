import { headers } from "next/headers";
import type { FlowType } from "#server/flow/names";
import { parseFrame } from "#server/http/page/frame";
import { openPageCookie } from "#server/http/page/page-cookie";
import { pageState } from "#server/http/page/page-state";
import { pathPrefix } from "#server/http/tenant-path";
import { currentRuntime } from "#server/runtime-slot";
import type { Tenant } from "#server/tenants/tenant";
import { readProviderReturn } from "../components/flow/provider-return.ts";
import { FrameLogin } from "../components/frame/frame-login.tsx";
import { FrameWindow } from "../components/frame/frame-window.tsx";
import { parametersOf, type Query, tenantOfPage } from "./flow-page.tsx";
import { pageWords } from "./page-words.ts";
import { ThemeLinks } from "./theme-links.tsx";

const framedFlows = ["login", "registration", "profile"] as const;

/**
 * `GET /embed`: a flow in a frame of an application's page, which `origin` names; with `window` the window in which it
 * goes on. Reads only; `proxy.ts` sets the headers that let the application hold the frame.
 *
 * @param tenantId the tenant id in the address; null for an address without one
 */
export async function FramePage({ tenantId, query }: { tenantId: string | null; query: Query }) {
  const tenant = await tenantOfPage(tenantId);
  const parameters = parametersOf(query);
  const { config } = tenant;
  const { language, words } = await pageWords(config);
  const shared = {
    language,
    words: words.flow,
    frameWords: words.frame,
    base: pathPrefix(config),
    ownOrigin: new URL(config.base_url).origin,
  };
  if (parameters.has("window")) {
    const providerReturn = readProviderReturn(parameters);
    const returned = providerReturn ? await returnedFlow(tenant) : null;
    return (
      <>
        <ThemeLinks config={config} />
        <FrameWindow
          {...shared}
          service={config.service.name}
          providerReturn={returned ? providerReturn : null}
          returned={returned}
        />
      </>
    );
  }
  const parsed = parseFrame(parameters, config);
  if (!parsed.ok) return <Refused title={words.frame.refusedTitle} sentence={words.frame.refusedSentence} />;
  const type = framedFlows.find((name) => name === parameters.get("flow")) ?? "login";
  const theme = (["light", "dark"] as const).find((name) => name === parameters.get("theme"));
  const { frame: page } = parsed;
  const initial = await pageState(currentRuntime(), tenant, await cookieHeader(), type, page);
  return (
    <>
      <ThemeLinks config={config} scheme={theme} />
      <FrameLogin
        key={type}
        {...shared}
        {...{ type, initial, page, theme }}
        signup={config.account.allow_signup}
      />
    </>
  );
}

function Refused({ title, sentence }: { title: string; sentence: string }) {
  return (
    <main className="stile-frame">
      <title>{title}</title>
      <section className="stile-content">
        <h1 className="stile-title">{title}</h1>
        <p className="stile-sentence">{sentence}</p>
      </section>
    </main>
  );
}

/** The flow of a frame that this window has led to a provider. */
async function returnedFlow(tenant: Tenant) {
  const runtime = currentRuntime();
  const cookies = await cookieHeader();
  const found = await Promise.all(
    framedFlows.map(async (type: FlowType) => {
      const flow = await openPageCookie(runtime, tenant, `frame-${type}`, cookies);
      if (!flow?.frame || flow.finished !== undefined) return null;
      const initial = await pageState(runtime, tenant, cookies, type, flow.frame);
      return Object.hasOwn(initial.state.actions, "exchange_token")
        ? { type, page: flow.frame, initial }
        : null;
    }),
  );
  return found.find((each) => each !== null) ?? null;
}

const cookieHeader = async () => (await headers()).get("cookie");
