import type { FlowType } from "#server/flow/names";
import { parseFrame } from "#server/http/page/frame";
import { openPageCookie } from "#server/http/page/page-cookie";
import { pageState } from "#server/http/page/page-state";
import { pathPrefix } from "#server/http/request/tenant-path";
import { wordsInUse } from "#words/words-in-use";
import { readProviderReturn } from "../components/flow/provider-return.ts";
import type { Page, PageRequest } from "./page.ts";
import { unframed } from "./page-headers.ts";

const framedFlows = ["login", "registration", "profile"] as const;

/**
 * `GET /embed`: a flow in a frame of an application's page, which `origin` names; with `window` the window in which it
 * goes on. Only the page of a listed origin may frame it. Reads only.
 */
export async function framePage(request: PageRequest): Promise<Page> {
  const { runtime, tenant, query, cookies, language, words, visit } = request;
  const { config } = tenant;
  const page = { status: 200, title: config.service.name, config, embedding: unframed } as const;
  const shared = {
    language,
    words: wordsInUse(words.flow, config),
    frameWords: words.frame,
    base: pathPrefix(config),
    ownOrigin: new URL(config.base_url).origin,
  };
  if (query.has("window")) {
    const providerReturn = readProviderReturn(query);
    const returned = providerReturn ? await returnedFlow(request) : null;
    return {
      ...page,
      embedding: { ...unframed, keepsOpener: true },
      content: {
        part: "frame-window",
        props: {
          ...shared,
          providerReturn: returned ? providerReturn : null,
          returned,
        },
      },
    };
  }
  const parsed = parseFrame(query, config);
  if (!parsed.ok) {
    const { refusedTitle: title, refusedSentence: sentence } = words.frame;
    return { ...page, title, content: { part: "frame-refused", props: { language, title, sentence } } };
  }
  const type = framedFlows.find((name) => name === query.get("flow")) ?? "login";
  const theme = (["light", "dark"] as const).find((name) => name === query.get("theme"));
  const { frame } = parsed;
  const initial = await pageState(runtime, tenant, cookies, type, frame, visit);
  return {
    ...page,
    // A form that is sent before its script arrives would lead to a page that cannot be framed.
    embedding: { ancestors: [frame.origin], keepsOpener: false, sendsForms: false },
    ...(theme ? { scheme: theme } : {}),
    content: {
      part: "frame",
      props: { ...shared, type, initial, page: frame, theme, signup: config.account.allow_signup },
    },
  };
}

/** The flow of a frame that this window has led to a provider. */
async function returnedFlow({ runtime, tenant, cookies, visit }: PageRequest) {
  const found = await Promise.all(
    framedFlows.map(async (type: FlowType) => {
      const flow = await openPageCookie(runtime, tenant, `frame-${type}`, cookies);
      if (!flow?.frame || flow.finished !== undefined) return null;
      const initial = await pageState(runtime, tenant, cookies, type, flow.frame, visit);
      return Object.hasOwn(initial.state.actions, "exchange_token")
        ? { type, page: flow.frame, initial }
        : null;
    }),
  );
  return found.find((each) => each !== null) ?? null;
}
