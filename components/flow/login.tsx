import { type ReactNode, useRef } from "react";
import { directionOf } from "#words/direction";
import type { FrameWords } from "#words/frame";
import { type IgnoredClick, useClickGuard } from "../frame/use-click-guard.ts";
import { Alert } from "../ui/alert.tsx";
import { Brand, type BrandProps } from "../ui/brand.tsx";
import { usePageTitle } from "../ui/use-page-title.ts";
import { accountIdOf, isAccount } from "./account.ts";
import { type FlowServer, flowServer } from "./flow-server.ts";
import { leaveFrame, useOwnQuestion } from "./framed-page.ts";
import { startOf } from "./page-addresses.ts";
import { keepsCookies } from "./permissions.ts";
import { StateLinks } from "./state-links.tsx";
import { StateView } from "./state-view.tsx";
import { SupportNumber, useSupportNumber } from "./support-number.tsx";
import { type RunningFlowOptions, useRunningFlow } from "./use-running-flow.ts";

export interface LoginProps extends Omit<RunningFlowOptions, "openFlow">, BrandProps {
  /** Whether registration is enabled. */
  signup: boolean;
  /** The flow API; by default the tRPC endpoint beside this page. */
  server?: FlowServer;
  /** Of a page that another page may frame. */
  frameWords?: Pick<FrameWords, IgnoredClick> | undefined;
  /** The footer of the page. */
  children?: ReactNode;
}

/** The flow page: brand, flow and footer. */
export function Login({ service, logo, signup, server, frameWords, children, ...options }: LoginProps) {
  const { language, words, base = "" } = options;
  const { number, noting } = useSupportNumber(options.initial);
  const { flow, copy, stateView } = useRunningFlow({ navigate: leaveFrame, ...options }, () =>
    noting(
      server ?? {
        ...flowServer(`${base}/api/trpc`, language, { account: accountIdOf(options.initial.state) }),
        forgets: () => !keepsCookies("page"),
      },
    ),
  );
  const { state } = flow.view;
  const container = useRef<HTMLElement>(null);
  const ignored = useClickGuard(container);
  const isLeaving = useOwnQuestion(state, options.initial.state);
  usePageTitle(`${copy.title} · ${service}`);
  const { nextPage, other: offered } = copy;
  const other = offered && !nextPage && (offered.flow === "login" || signup) ? offered : null;
  return (
    <main
      ref={container}
      className="stile-page"
      lang={language}
      dir={directionOf(language)}
      data-wide={isAccount(state) || undefined}
    >
      <Brand service={service} {...(logo ? { logo } : {})} />
      <div className="stile-card">
        {ignored && frameWords && <Alert tone="error">{frameWords[ignored]}</Alert>}
        {!isLeaving && <StateView key={state.name} {...stateView} />}
      </div>
      <footer className="stile-footer">
        {other && (
          <p>
            {other.question} <a href={startOf(base, other.flow)}>{other.label}</a>
          </p>
        )}
        <StateLinks state={state} words={words} />
        <SupportNumber number={number} words={words} />
        {children}
      </footer>
    </main>
  );
}
