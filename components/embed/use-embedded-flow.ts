import { useEffect, useMemo, useState } from "react";
import type { FlowWords } from "#words/flow";
import { type OwnTexts, withTexts } from "#words/with-texts";
import type { EmbeddedFlow, EmbeddingOptions } from "../flow/embedding.ts";
import { plainWords } from "../flow/plain-words.ts";
import { type ProviderReturn, readProviderReturn } from "../flow/provider-return.ts";
import { REQUEST_TIMEOUT_MS } from "../flow/request-timeout.ts";
import { baseOf, keptType, restServer } from "../flow/rest-server.ts";
import { type RunningFlow, useRunningFlow } from "../flow/use-running-flow.ts";
import type { BegunFlow } from "./immediate-sign-in.ts";
import { useFlowEvents } from "./use-flow-events.ts";

/** The options of the client of a flow that a component shows. */
function serverOptions({ url, flow = "login", codeChallenge }: EmbeddingOptions) {
  const asked = flow === "profile" ? undefined : flow;
  return { url, codeChallenge, asked, returning: returnToPage(url) !== null };
}

/** The flow that this tab has left for a reload or for an identity provider, if a component goes on with it. */
export function leftFlow(options: EmbeddingOptions): EmbeddedFlow | null {
  const kept = keptType(serverOptions(options));
  const isOfComponent =
    kept !== "token_exchange" && kept !== "consent" && (kept === "profile") === (options.flow === "profile");
  return isOfComponent ? kept : null;
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
  const { url } = options;
  const [providerReturn] = useState(() => returnToPage(url));
  const [server] = useState(() => begun?.server ?? restServer({ ...serverOptions(options), language }));
  const [own, setOwn] = useState<{ language: string; texts: OwnTexts } | null>(null);
  const texts = own?.language === language ? own.texts : null;
  const tailored = useMemo(() => (words && texts ? withTexts(words, texts) : words), [words, texts]);
  const running = useRunningFlow(
    {
      type,
      language,
      providerReturn,
      address: pageAddress(),
      base: baseOf(url),
      initial: begun ? { ...begun.answer, performed: begun.performed } : { version: 0, state: unstarted },
      words: tailored ?? plainWords,
      openFlow: openFlow && ((other, identifier) => openFlow(other as EmbeddedFlow, identifier)),
      identifier,
    },
    () => server,
  );
  const version = server.ownWords(language);
  const address =
    words && words !== plainWords && version && `${baseOf(url)}/theme/${version}/words-${language}.json`;
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
  useFlowEvents(options, running, tailored ?? plainWords, server.result);
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

/** The result of an identity provider in the address of this page. An `error` may be the application's own. */
function returnToPage(url: string): ProviderReturn | null {
  if (typeof location === "undefined") return null;
  const result = readProviderReturn(new URLSearchParams(location.search));
  return result && "error" in result && keptType({ url, returning: true }) === null ? null : result;
}

function pageAddress(): string | undefined {
  return typeof location === "undefined" ? undefined : location.origin + location.pathname;
}
