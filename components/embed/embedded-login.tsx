import { type ReactNode, useEffect, useState } from "react";
import { directionOf } from "#words/direction";
import type { FlowWords } from "#words/flow";
import { isAccount } from "../flow/account.ts";
import type { EmbeddedFlow, EmbeddingOptions } from "../flow/embedding.ts";
import { startOf } from "../flow/page-addresses.ts";
import { plainWords } from "../flow/plain-words.ts";
import { baseOf } from "../flow/rest-server.ts";
import { StateAlerts } from "../flow/state-alerts.tsx";
import { StateLinks } from "../flow/state-links.tsx";
import { StateView } from "../flow/state-view.tsx";
import type { BegunFlow } from "./immediate-sign-in.ts";
import { leftFlow, useEmbeddedFlow } from "./use-embedded-flow.ts";

/** Words of several languages, of which a page loads one. */
export interface WordSource<Language extends string = string> {
  /** The best language of the tags wanted (BCP 47), most wanted first. */
  choose(wanted: readonly string[]): Language;
  /** @param forAccount with those of the account page */
  load(language: Language, forAccount: boolean): Promise<FlowWords>;
}

/** The words of a language; if they cannot be loaded, English; else the descriptions of the service, which are too. */
async function wordsOf<Language extends string>(
  source: WordSource<Language>,
  language: Language,
  forAccount: boolean,
  onFailure: () => void,
): Promise<{ language: Language; words: FlowWords }> {
  const english = source.choose(["en"]);
  try {
    return { language, words: await source.load(language, forAccount) };
  } catch {
    onFailure();
    const words =
      language === english ? plainWords : await source.load(english, forAccount).catch(() => plainWords);
    return { language: english, words };
  }
}

export interface EmbeddedLoginProps<Language extends string> extends EmbeddingOptions {
  source: WordSource<Language>;
  /** The login to go on with, instead of starting one. */
  begun?: BegunFlow | null;
}

/** The language of a component in a page: the one asked for, else that of the document, else the reader's. */
export function languageOf<Language extends string>(
  source: WordSource<Language>,
  wanted: string | undefined,
): Language {
  const { lang } = document.documentElement;
  return source.choose(wanted ? [wanted] : lang ? [lang] : navigator.languages);
}

/**
 * A flow in a page of an application. The server and the first drawing in a browser show the same frame; the flow and
 * the words of its language are loaded after it, at the same time.
 */
export function EmbeddedLogin<Language extends string>({
  source,
  begun = null,
  ...options
}: EmbeddedLoginProps<Language>) {
  const { url, flow = "login", codeChallenge, language: wanted, theme, onError } = options;
  const [opened, setOpened] = useState<{ flow: EmbeddedFlow; identifier?: string | undefined } | null>(null);
  const [loaded, setLoaded] = useState<{ language: Language; words: FlowWords } | null>(null);
  const [language, setLanguage] = useState<Language | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the flow that returns is that of this page's address
  useEffect(() => setOpened({ flow: begun ? "login" : (leftFlow(options) ?? flow) }), [url, flow]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are loaded once for each language
  useEffect(() => {
    const language = languageOf(source, wanted);
    setLanguage(language);
    // The words of a login lack those of the account.
    if (flow === "profile") setLoaded(null);
    let isCurrent = true;
    const onFailure = () =>
      isCurrent && onError?.({ code: "connection_missing", message: "The words could not be loaded." });
    void wordsOf(source, language, flow === "profile", onFailure).then(
      (loaded) => isCurrent && setLoaded(loaded),
    );
    return () => {
      isCurrent = false;
    };
  }, [wanted, flow]);

  return (
    <div
      className="stile-embed"
      lang={loaded?.language}
      dir={loaded ? directionOf(loaded.language) : undefined}
      data-theme={theme}
    >
      {opened && language ? (
        <Flow
          key={`${url} ${opened.flow} ${codeChallenge}`}
          options={options}
          type={opened.flow}
          begun={opened.flow === "login" ? begun : null}
          identifier={opened.identifier}
          language={loaded?.language ?? language}
          words={loaded?.words ?? null}
          openFlow={(flow, identifier) => setOpened({ flow, identifier })}
        />
      ) : (
        <Outline />
      )}
    </div>
  );
}

interface FlowProps {
  options: EmbeddingOptions;
  type: EmbeddedFlow;
  words: FlowWords | null;
  language: string;
  begun: BegunFlow | null;
  identifier: string | undefined;
  openFlow: (type: EmbeddedFlow, identifier?: string) => void;
}

function Flow({ options, ...running }: FlowProps) {
  const { openFlow } = running;
  const { flow, copy, stateView, wordsReady } = useEmbeddedFlow(options, running);
  const { state, version } = flow.view;
  // A published client is not told; ours reads it from the payload.
  const isClosed = state.payload.registration_closed === true;
  const other = copy.other?.flow === "registration" && isClosed ? undefined : copy.other;
  const { words } = stateView.context;
  if (!wordsReady) return <Outline />;
  if (version === 0)
    return (
      <Outline label={words.page.working}>
        <StateAlerts context={stateView.context} inputErrorShown={false} />
      </Outline>
    );
  return (
    <div className="stile-embed-card" data-wide={isAccount(state) || undefined}>
      <StateView key={state.name} {...stateView} />
      {(other || (state.links?.length ?? 0) > 0) && (
        <footer className="stile-footer">
          {other && (
            <p>
              {other.question}{" "}
              <a
                href={startOf(baseOf(options.url), other.flow)}
                onClick={(event) => {
                  event.preventDefault();
                  openFlow(other.flow);
                }}
              >
                {other.label}
              </a>
            </p>
          )}
          <StateLinks state={state} words={words} />
        </footer>
      )}
    </div>
  );
}

/** The frame until the first state is there, with what is to be said about the connection. */
function Outline({ label, children }: { label?: string; children?: ReactNode }) {
  return (
    <div className="stile-embed-card" aria-busy="true">
      {children}
      <div className="stile-embed-outline">
        {label && <span className="stile-hidden">{label}</span>}
        <span />
        <span />
        <span />
      </div>
    </div>
  );
}
