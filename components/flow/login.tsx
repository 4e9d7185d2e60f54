"use client";

import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { FlowWords, WordedState } from "#words/flow";
import { Mark } from "../ui/mark.tsx";
import { isAccount } from "./account.ts";
import { type FlowAnswer, type FlowServer, type FlowType, flowServer } from "./flow-server.ts";
import { startOf } from "./page-addresses.ts";
import type { ProviderReturn } from "./provider-return.ts";
import { recoveryCodesIn } from "./recovery-codes.tsx";
import { useSignals } from "./signals.ts";
import { StateView } from "./state-view.tsx";
import { useCeremony } from "./use-ceremony.ts";
import { createFlowStore, useFlow } from "./use-flow.ts";
import { variantsOf } from "./variants.ts";
import type { ViewContext } from "./view-context.ts";
import { stateWords } from "./words.ts";

export interface LoginProps {
  type: FlowType;
  /** The state that the page was rendered with. */
  initial: FlowAnswer;
  /** The display name of the service. */
  service: string;
  words: FlowWords;
  /** BCP 47 tag of `words`; also the language of mails that the steps send. */
  language: string;
  /** Whether registration is enabled. */
  signup: boolean;
  /** The prefix of every address of this service: empty, or `/t/{tenant}`. */
  base?: string;
  /** Absolute address of this page without a query: the return address for identity providers. */
  address?: string;
  /** The result of an identity provider, if the user returns from one. */
  providerReturn?: ProviderReturn | null;
  /** The relying party id, for signals to passkey managers. */
  relyingParty?: string;
  /** The flow API; by default the tRPC endpoint beside this page. */
  server?: FlowServer;
  /** Navigates to another page. */
  navigate?: (url: string) => void;
  /** The footer of the page. */
  children?: ReactNode;
}

/** The flow page: draws any state of the server. */
export function Login({
  type,
  initial,
  service,
  words,
  language,
  signup,
  base = "",
  address,
  providerReturn = null,
  relyingParty,
  server,
  navigate = leave,
  children,
}: LoginProps) {
  const [store] = useState(() =>
    createFlowStore(server ?? flowServer(`${base}/api/trpc`, language), type, initial),
  );
  const flow = useFlow(store);
  const { state, attempted, performed } = flow.view;
  // Whether a signed-in user is authenticating again.
  const reauthenticating = useRef(false);
  const live = useSyncExternalStore(noSubscription, inBrowser, onServer);
  const [ready, setReady] = useState(false);
  const [pendingReturn, setPendingReturn] = useState(providerReturn);
  // The server shows recovery codes once, so a renewed state does not contain them. They stay until they are saved.
  const [unsavedCodes, setUnsavedCodes] = useState(() => recoveryCodesIn(state.payload));
  const [stateOfCodes, setStateOfCodes] = useState(state);
  if (state !== stateOfCodes) {
    setStateOfCodes(state);
    const codes = recoveryCodesIn(state.payload);
    if (codes.length > 0) setUnsavedCodes(codes);
  }
  const onReturnUsed = () => setPendingReturn(null);
  const ceremonyStatus = useCeremony(flow, {
    ready,
    providerReturn: pendingReturn,
    onReturnUsed,
    unsavedCodes: unsavedCodes.length > 0,
    base,
    navigate,
  });
  useSignals(state, ready, relyingParty);
  const copy = stateWords(words, state.name, variantsOf(state, type, attempted));
  const other = copy.other && (copy.other.flow === "login" || signup) ? copy.other : null;
  const pageValues = {
    ...(address === undefined ? {} : { redirect_to: address }),
    ...(pendingReturn && "token" in pendingReturn ? { token: pendingReturn.token } : {}),
  };
  const context: ViewContext = { flow, type, words, language, copy, live, base, pageValues };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const isReauthentication =
      type === "profile" && words.states[state.name as WordedState]?.variants?.signed_in;
    const isPerformed = state.payload.performed_action !== undefined;
    const continues = reauthenticating.current && !isPerformed;
    if (isAccount(state) && continues && performed !== "back") flow.showNotice("proved_again");
    reauthenticating.current = Boolean(isReauthentication) || (continues && !isAccount(state));
  }, [state]);

  useEffect(() => {
    // The first state of a flow that was not started cannot have changed since it was rendered.
    const { version, state } = store.view();
    const isUnstarted = version === 0 && Object.keys(state.actions).length > 0;
    void (isUnstarted ? Promise.resolve() : store.refresh()).then(() => setReady(true));
    // A page from the back-forward cache may be outdated.
    const onPageShow = (event: PageTransitionEvent) => {
      if (event.persisted) void store.refresh();
    };
    addEventListener("pageshow", onPageShow);
    return () => removeEventListener("pageshow", onPageShow);
  }, [store]);

  return (
    <main className="stile-page" lang={language} data-wide={isAccount(state) || undefined}>
      <title>{`${copy.title} · ${service}`}</title>
      <p className="stile-brand">
        <Mark />
        <span>{service}</span>
      </p>
      <div className="stile-card">
        <StateView
          key={state.name}
          context={context}
          ceremonyStatus={ceremonyStatus}
          unsavedCodes={unsavedCodes}
          onCodesSaved={() => setUnsavedCodes([])}
          providerReturn={pendingReturn}
          navigate={navigate}
        />
      </div>
      <footer className="stile-footer">
        {other && (
          <p>
            {other.question} <a href={startOf(base, other.flow)}>{other.label}</a>
          </p>
        )}
        {state.links && state.links.length > 0 && (
          <ul className="stile-links">
            {state.links.map((link) => (
              <li key={link.href}>
                <a href={link.href} target={link.target} rel="noreferrer">
                  {link.name}
                </a>
              </li>
            ))}
          </ul>
        )}
        {children}
      </footer>
    </main>
  );
}

function leave(url: string): void {
  location.assign(url);
}

const noSubscription = () => () => {};
const inBrowser = () => true;
const onServer = () => false;
