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
import { converse, useFlow } from "./use-flow.ts";
import { variantsOf } from "./variants.ts";
import type { Stage } from "./view-context.ts";
import { stateWords } from "./words.ts";

export interface LoginProps {
  type: FlowType;
  /** The state that the page was drawn with. */
  initial: FlowAnswer;
  /** Name of the service, as people know it. */
  service: string;
  words: FlowWords;
  /** BCP 47 tag of `words`; mails that the steps send are in it too. */
  language: string;
  /** Whether visitors may register themselves. */
  signup: boolean;
  /** What stands before every address of this service: nothing, or `/t/{tenant}`. */
  base?: string;
  /** Absolute address of this page, without a query: where identity providers send people back to. */
  address?: string;
  /** What the person brought back from one, if they come from there. */
  arrival?: ProviderReturn | null;
  /** The relying party's id, for what browsers' passkey managers are told. */
  relyingParty?: string;
  /** Whom to ask; by default the tRPC endpoint beside this page. */
  server?: FlowServer;
  /** Leaves the page. */
  navigate?: (url: string) => void;
  /** Stands at the foot of the page. */
  children?: ReactNode;
}

/** The whole conversation with a visitor: whichever state the server is in, this draws it. */
export function Login({
  type,
  initial,
  service,
  words,
  language,
  signup,
  base = "",
  address,
  arrival = null,
  relyingParty,
  server,
  navigate = leave,
  children,
}: LoginProps) {
  const [conversation] = useState(() =>
    converse(server ?? flowServer(`${base}/api/trpc`, language), type, initial),
  );
  const flow = useFlow(conversation);
  const { state, performed } = flow.view;
  // Whoever is signed in is on their way to prove it once more.
  const proving = useRef(false);
  const live = useSyncExternalStore(noSubscription, inBrowser, onServer);
  const [ready, setReady] = useState(false);
  const [brought, setBrought] = useState(arrival);
  const [saved, setSaved] = useState("");
  const codes = recoveryCodesIn(state.payload).join(" ");
  const held = codes !== saved && codes !== "";
  const arrived = () => setBrought(null);
  const ceremonial = useCeremony(flow, { ready, arrival: brought, arrived, held, base, navigate });
  useSignals(state, ready, relyingParty);
  const here = stateWords(words, state.name, variantsOf(state, type));
  const other = here.other && (here.other.flow === "login" || signup) ? here.other : null;
  const known = {
    ...(address === undefined ? {} : { redirect_to: address }),
    ...(brought && "token" in brought ? { token: brought.token } : {}),
  };
  const stage: Stage = { flow, type, words, language, here, live, base, known };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const asks = type === "profile" && words.states[state.name as WordedState]?.variants?.signed_in;
    if (isAccount(state) && proving.current && performed !== "back") flow.tell("proved_again");
    proving.current = Boolean(asks) || (proving.current && !isAccount(state));
  }, [state]);

  useEffect(() => {
    // The first state of a flow that nobody has started is as good now as it was when it was drawn.
    const { version, state } = conversation.view();
    const drawnOnly = version === 0 && Object.keys(state.actions).length > 0;
    void (drawnOnly ? Promise.resolve() : conversation.refresh()).then(() => setReady(true));
    // A page that the browser kept may be long out of date.
    const shown = (event: PageTransitionEvent) => {
      if (event.persisted) void conversation.refresh();
    };
    addEventListener("pageshow", shown);
    return () => removeEventListener("pageshow", shown);
  }, [conversation]);

  return (
    <main className="stile-page" lang={language} data-wide={isAccount(state) || undefined}>
      <title>{`${here.title} · ${service}`}</title>
      <p className="stile-brand">
        <Mark />
        <span>{service}</span>
      </p>
      <div className="stile-card">
        <StateView
          key={state.name}
          stage={stage}
          ceremonial={ceremonial}
          held={held}
          release={() => setSaved(codes)}
          arrival={brought}
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
