import { useEffect, useMemo, useState } from "react";
import type { FlowWords } from "#words/flow";
import { type OwnTexts, withTexts } from "#words/with-texts";
import type { EmbeddedFlow, EmbeddingOptions } from "../flow/embedding.ts";
import { type ProviderReturn, readProviderReturn } from "../flow/provider-return.ts";
import { REQUEST_TIMEOUT_MS } from "../flow/request-timeout.ts";
import { baseOf, restServer, suspendedType } from "../flow/rest-server.ts";
import { type RunningFlow, useRunningFlow } from "../flow/use-running-flow.ts";
import type { BegunFlow } from "./immediate-sign-in.ts";
import { useFlowEvents } from "./use-flow-events.ts";

/** The flow that a component shows first: the one that returns from an identity provider, else the one asked for. */
export function firstFlow({ url, flow = "login" }: EmbeddingOptions): EmbeddedFlow {
  if (returnToPage(url) === null) return flow;
  const suspended = suspendedType({ url });
  const isOfComponent = suspended === "profile" ? flow === "profile" : suspended !== null;
  return isOfComponent && suspended !== "token_exchange" ? (suspended ?? flow) : flow;
}

/**
 * Runs a flow over REST in a page of an application, and reports its events. The flow starts in the browser, after the
 * first drawing.
 *
 * @param type kept for the life of the component; give it a `key` to change it
 * @param words null until they are loaded
 * @param begun the flow to go on with, instead of starting one
 * @returns `wordsReady`: whether the words are loaded, with the tenant's own texts
 */
export function useEmbeddedFlow(
  options: EmbeddingOptions,
  {
    type,
    words,
    language,
    identifier,
    openFlow,
    begun,
  }: {
    type: EmbeddedFlow;
    /** The identifier to begin a login with. */
    identifier?: string | undefined;
    words: FlowWords | null;
    language: string;
    openFlow: ((type: EmbeddedFlow, identifier?: string) => void) | undefined;
    begun?: BegunFlow | null | undefined;
  },
): RunningFlow & { wordsReady: boolean } {
  const { url, codeChallenge } = options;
  const [providerReturn] = useState(() => returnToPage(url));
  const [server] = useState(
    () => begun?.server ?? restServer({ url, language, codeChallenge, returning: providerReturn !== null }),
  );
  const [own, setOwn] = useState<{ language: string; texts: OwnTexts } | null>(null);
  const texts = own?.language === language ? own.texts : null;
  const tailored = useMemo(() => (words && texts ? withTexts(words, texts) : words), [words, texts]);
  const running = useRunningFlow(
    {
      ...{ type, language, providerReturn, address: pageAddress(), base: baseOf(url) },
      initial: begun ? { ...begun.answer, performed: begun.performed } : { version: 0, state: unstarted },
      words: tailored ?? noWords,
      openFlow: openFlow && ((other, identifier) => openFlow(other as EmbeddedFlow, identifier)),
      identifier,
    },
    () => server,
  );
  const version = server.ownWords(language);
  const address = words && version && `${baseOf(url)}/theme/${version}/words-${language}.json`;
  useEffect(() => {
    let isCurrent = true;
    if (address)
      void ownTexts(address).then((texts) => {
        if (isCurrent) setOwn({ language, texts });
      });
    return () => {
      isCurrent = false;
    };
  }, [address, language]);
  useFlowEvents(options, running, tailored ?? noWords, server.result);
  return { ...running, wordsReady: words !== null && (!address || texts !== null) };
}

/** The tenant's own texts; none if they cannot be loaded, because ours serve as well. */
async function ownTexts(address: string): Promise<OwnTexts> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    return response.ok ? ((await response.json()) as OwnTexts) : {};
  } catch {
    return {};
  }
}

/** What is shown until the service has answered. */
const unstarted = { name: "preflight", status: 200, payload: {}, csrf_token: "", actions: {}, links: null };

/** Words of a component that draws nothing itself. */
const noWords = {
  ...{ states: {}, actions: {}, afterProof: {}, inputs: {}, errors: {}, sections: {}, page: {} },
} as unknown as FlowWords;

/** The result of an identity provider in the address of this page. An `error` may be the application's own. */
function returnToPage(url: string): ProviderReturn | null {
  if (typeof location === "undefined") return null;
  const result = readProviderReturn(new URLSearchParams(location.search));
  return result && "error" in result && suspendedType({ url }) === null ? null : result;
}

function pageAddress(): string | undefined {
  return typeof location === "undefined" ? undefined : location.origin + location.pathname;
}
