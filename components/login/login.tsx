"use client";

import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { Mark } from "../ui/mark.tsx";
import { type FlowAnswer, type FlowServer, type FlowType, flowServer } from "./flow-server.ts";
import { StateView } from "./state-view.tsx";
import { useCeremony } from "./use-ceremony.ts";
import { converse, useFlow } from "./use-flow.ts";
import { stateWords, type Words } from "./words/words.ts";

export interface LoginProps {
  type: FlowType;
  /** The state that the page was drawn with. */
  initial: FlowAnswer;
  /** Name of the service, as people know it. */
  service: string;
  words: Words;
  /** Whether visitors may register themselves. */
  signup: boolean;
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
  signup,
  server,
  navigate = leave,
  children,
}: LoginProps) {
  const [conversation] = useState(() =>
    converse(server ?? flowServer("/api/trpc", words.language), type, initial),
  );
  const flow = useFlow(conversation);
  const live = useSyncExternalStore(noSubscription, inBrowser, onServer);
  const [ready, setReady] = useState(false);
  const beginAgain = useCeremony(flow, ready, navigate);
  const { state } = flow.view;
  const said = stateWords(words, state.name);
  const other = said.other && (said.other.flow === "login" || signup) ? said.other : null;

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
    <main className="stile-page" lang={words.language}>
      <title>{`${said.title} · ${service}`}</title>
      <p className="stile-brand">
        <Mark />
        <span>{service}</span>
      </p>
      <div className="stile-card">
        <StateView
          key={state.name}
          flow={flow}
          type={type}
          words={words}
          live={live}
          beginAgain={beginAgain}
        />
      </div>
      <footer className="stile-footer">
        {other && (
          <p>
            {other.question} <a href={`/?flow=${other.flow}`}>{other.label}</a>
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
