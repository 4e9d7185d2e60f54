import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { FlowWords, StateWords, WordedState } from "#words/flow";
import { isAccount } from "./account.ts";
import type { FlowServer, FlowType } from "./flow-server.ts";
import { recoveryCodesIn, relyingPartyIn } from "./payload-readers.ts";
import type { ProviderReturn } from "./provider-return.ts";
import type { StateViewProps } from "./state-view.tsx";
import { useCeremony } from "./use-ceremony.ts";
import { createFlowStore, type FirstAnswer, type Flow, useFlow } from "./use-flow.ts";
import { variantsOf } from "./variants.ts";
import type { Drawings, ViewContext } from "./view-context.ts";
import { stateWords } from "./words.ts";

/** What a flow needs wherever it is drawn. */
export interface RunningFlowOptions {
  type: FlowType;
  /** The state that the page was rendered with. */
  initial: FirstAnswer;
  words: FlowWords;
  /** BCP 47 tag of `words`; also the language of mails that the steps send. */
  language: string;
  /** The prefix of every address of this service: empty, `/t/{tenant}`, or absolute on a page of another origin. */
  base?: string;
  /** Absolute address of this page without a query: the return address for identity providers. */
  address?: string | undefined;
  /** The result of an identity provider, if the user returns from one. */
  providerReturn?: ProviderReturn | null;
  /** The relying party id, for signals to passkey managers. Default: the one that the payloads name. */
  relyingParty?: string | undefined;
  /** Shows another flow in the same container, and identifies the user there if asked to; absent where each flow has a page. */
  openFlow?: ((type: FlowType, identifier?: string) => void) | undefined;
  /** The identifier to begin a login with. */
  identifier?: string | undefined;
  /** Navigates to another page. */
  navigate?: (url: string) => void;
  /** Drawings of payloads that this container alone shows. */
  drawings?: Drawings | undefined;
}

/** A flow that runs in a container of any kind: the hosted page, a frame, or an element of an application. */
export interface RunningFlow {
  flow: Flow;
  /** The words of the current state. */
  copy: StateWords;
  /** The properties of the `StateView` that draws the state. Its key is the name of the state. */
  stateView: StateViewProps;
}

/**
 * Runs a flow: keeps its state, performs its ceremonies and follows its redirects. The caller draws `StateView` in its
 * container.
 *
 * @param makeServer called once; the flow keeps its server
 */
export function useRunningFlow(
  {
    type,
    initial,
    words,
    language,
    base = "",
    address,
    providerReturn = null,
    relyingParty,
    openFlow,
    identifier,
    navigate = leave,
    drawings,
  }: RunningFlowOptions,
  makeServer: () => FlowServer,
): RunningFlow {
  const [store] = useState(() => createFlowStore(makeServer(), type, initial));
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
  const knownParty = useRef(relyingParty);
  useEffect(() => {
    const party = relyingPartyIn(state.payload) ?? knownParty.current;
    knownParty.current = party;
    const isSignalled = state.payload.user !== undefined || state.payload.unknown_credential !== undefined;
    if (ready && party !== undefined && isSignalled)
      void import("./signals.ts").then(({ sendSignals }) => sendSignals(state, party));
  }, [state, ready]);
  const copy = stateWords(words, state.name, variantsOf(state, type, attempted));
  const pageValues = {
    ...(address === undefined ? {} : { redirect_to: address }),
    ...(pendingReturn && "token" in pendingReturn ? { token: pendingReturn.token } : {}),
  };
  const drawn = { ...flow, act: ceremonyStatus.act };
  const shared = { type, words, language, copy, live, base, pageValues, openFlow, drawings };
  const context: ViewContext = { flow: drawn, ...shared };

  const unsent = useRef(identifier);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const { continue_with_login_identifier: action } = state.actions;
    const [input] = Object.values(action?.inputs ?? {});
    if (!ready || unsent.current === undefined || !action || !input) return;
    void flow.act(action.action, { [input.name]: unsent.current });
    unsent.current = undefined;
  }, [state, ready]);

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
    // An embedded flow was not rendered by the service: its first state is requested, with words about the connection.
    const request = version === 0 && !state.error ? store.renew : store.refresh;
    void (isUnstarted ? Promise.resolve() : request()).then(() => setReady(true));
    if (isUnstarted) void store.begin();
    // A page from the back-forward cache may be outdated.
    const onPageShow = (event: PageTransitionEvent) => {
      if (event.persisted) void store.refresh();
    };
    addEventListener("pageshow", onPageShow);
    return () => removeEventListener("pageshow", onPageShow);
  }, [store]);

  return {
    flow,
    copy,
    stateView: {
      context,
      ceremonyStatus,
      unsavedCodes,
      onCodesSaved: () => setUnsavedCodes([]),
      providerReturn: pendingReturn,
      navigate,
    },
  };
}

function leave(url: string): void {
  location.assign(url);
}

const noSubscription = () => () => {};
const inBrowser = () => true;
const onServer = () => false;
