import { useSyncExternalStore } from "react";
import type { FlowState } from "#server/flow/wire";
import { type AccountCall, accountIdOf, isAccount } from "./account.ts";
import { browserCapabilities, type ReportedCapabilities } from "./capabilities.ts";
import { lacksOptions } from "./ceremonies.ts";
import { isErrorAnswer } from "./error-answer.ts";
import type { FlowAnswer, FlowServer, FlowType } from "./flow-server.ts";
import { identifierAfterAccountAction, identifierIn } from "./shown-identifier.ts";
import { startFor } from "./start-for.ts";
import { codeOf } from "./words.ts";

/** The view model of a flow. */
export interface FlowView {
  version: number;
  state: FlowState;
  /** The action in progress; null while idle. */
  busy: string | null;
  /** Code of a notice that is not part of the state. */
  notice: string | null;
  /** How long the server lets no step be made, by an answer that showed no state; null without one. */
  refusal: { seconds: number } | null;
  /** The action that led to the state; after re-authentication, the action that required it. */
  performed: string | null;
  /** The item that the current or last action was performed on. */
  itemId: string | null;
  /** The identifier of the user, as far as this page knows it. */
  subject: string | null;
  /** The state as it was before its rejected attempts, which may leave it without a payload; null without any. */
  attempted: FlowState | null;
  /** The account as last shown before the current state. */
  account: FlowState | null;
  /** The address to redirect to. */
  redirectTo: string | null;
  /** Counts answers to user actions; a renewal of the state is not counted. */
  answerCount: number;
}

export interface Flow {
  view: FlowView;
  /** Performs an action. Does nothing while another one is in progress. */
  act(action: string, input: Record<string, unknown>, options?: ActOptions): Promise<void>;
  /** Requests the current state in the background, without interrupting input. */
  refresh(): Promise<void>;
  /** Requests the current state on the user's request, and returns what is shown then. */
  renew(): Promise<FlowState>;
  /**
   * Abandons the flow and starts another one.
   *
   * @param identifier whom the other login is to identify
   */
  restart(identifier?: string): Promise<void>;
  /** Reconnects after the automatic attempts have failed. */
  retry(): Promise<void>;
  /** Shows a notice beside the current state; null: none. */
  showNotice(notice: string | null): void;
  /** Runs what does not change the flow, after a call under way; other calls wait for it. Nothing runs during a user's call. */
  quietly(call: (view: FlowView) => Promise<void>): Promise<void>;
  /**
   * Starts the flow of a page that shows the first state of one that is not started, in the background, where the
   * capabilities of the browser change that state: it has no WebAuthn, or lacks a challenge for a passkey in the fields.
   */
  begin(): Promise<void>;
}

export interface ActOptions {
  /** The rest of the page stays usable; later actions are queued. */
  background?: boolean;
  /** A notice to show with the next state. */
  notice?: string | undefined;
  /** Performed without the user's request: failures are not shown. */
  automatic?: boolean;
  /** The item that the action is performed on. */
  itemId?: string | undefined;
}

/** The state of a flow and the calls that change it. Independent of React; one per page. */
export type FlowStore = Omit<Flow, "view"> & {
  view(): FlowView;
  subscribe(listener: () => void): () => void;
};

export function useFlow(store: FlowStore): Flow {
  const view = useSyncExternalStore(store.subscribe, store.view, store.view);
  return { ...store, view };
}

/** A rejected step. */
interface Step {
  action: string;
  input: Record<string, unknown>;
  automatic: boolean;
}

/** The state that a page was rendered with. */
export interface FirstAnswer extends FlowAnswer {
  /** The action of the user that led to it, before the page. */
  performed?: string;
}

/** Delays between attempts to reconnect. */
const RETRY_DELAYS_MS = [500, 1000, 2000, 4000, 8000];

/**
 * Creates the client state of one flow: calls are sequential, and each ends in a view that the user can continue
 * from.
 *
 */
export function createFlowStore(
  server: FlowServer,
  type: FlowType,
  initial: FirstAnswer,
  pause: (milliseconds: number) => Promise<void> = sleepOrOnline,
): FlowStore {
  let view: FlowView = {
    version: initial.version,
    state: initial.state,
    redirectTo: initial.redirect_to ?? null,
    busy: null,
    notice: null,
    performed: initial.performed ?? null,
    refusal: null,
    itemId: null,
    subject: null,
    attempted: null,
    account: null,
    answerCount: 0,
  };
  const listeners = new Set<() => void>();
  let capabilities: Promise<ReportedCapabilities> | undefined;
  let backgroundCall: Promise<void> | null = null;
  /** The last action of the account page, which the server performs after a re-authentication. */
  let asked: AccountCall | null = null;

  function update(change: Partial<FlowView>): void {
    view = { ...view, ...change };
    for (const listener of listeners) listener();
  }

  /** Runs one call after a background call in progress; does nothing while a user's call is in progress. */
  async function exclusively(label: string, background: boolean, call: () => Promise<void>): Promise<void> {
    if (view.busy !== null) return;
    if (!background) update({ busy: label });
    const before = backgroundCall;
    const run = (async () => {
      await before;
      await call();
    })().finally(() => {
      if (backgroundCall === run) backgroundCall = null;
      if (!background) update({ busy: null });
    });
    if (background) backgroundCall = run;
    await run;
  }

  /** The capabilities of the browser, for the calls that may start a flow. */
  function reported(): Promise<ReportedCapabilities> {
    capabilities ??= browserCapabilities();
    return capabilities;
  }

  function show(answer: FlowAnswer, change: Partial<FlowView>): void {
    const { version, state, redirect_to } = answer;
    update({
      version,
      state,
      redirectTo: redirect_to ?? null,
      answerCount: view.answerCount + 1,
      notice: null,
      refusal: null,
      attempted: state.error && state.name === view.state.name ? (view.attempted ?? view.state) : null,
      account: isAccount(view.state) ? view.state : view.account,
      // In a profile flow the identifier is known only from steps made and answered on this page.
      subject: type === "profile" && version !== view.version ? null : view.subject,
      ...change,
    });
  }

  /**
   * Requests the current state. A rejection is checked once more: while the request was under way, a step of another tab
   * may have replaced the cookie that it was sent with.
   */
  async function requestCurrent(): Promise<FlowAnswer | null> {
    const request = () => server.current(type).then(available, () => null);
    const answer = await request();
    return answer?.state.status === 403 && isErrorAnswer(answer.state) ? request() : answer;
  }

  /** Keeps the state, and shows why the server answered with none and how long to wait. */
  function keepState({ state }: FlowAnswer, performed: string | null): void {
    const notice = state.error ? codeOf(state.error) : "technical_error";
    update({ performed, notice, refusal: refusalIn(state) });
  }

  /** Whether an answer only says that the state, which this page shows already, has to wait. */
  function isPostponed({ state }: FlowAnswer): boolean {
    return state.status === 429 && isErrorAnswer(state) && Object.keys(view.state.actions).length > 0;
  }

  /** Requests the current state until an answer arrives, with notices about the connection. */
  async function reconnect(performed: string | null): Promise<void> {
    const before = view.state.name;
    update({ notice: "connection_lost" });
    for (const milliseconds of RETRY_DELAYS_MS) {
      await pause(milliseconds);
      const answer = await requestCurrent();
      if (!answer && (await server.refuses?.())) return update({ notice: "origin_refused" });
      if (!answer) continue;
      if (isPostponed(answer)) return keepState(answer, performed);
      if (isErrorAnswer(answer.state)) return startNewFlow(answer, null);
      return show(answer, {
        performed,
        notice: answer.state.name === before && performed ? "connection_back" : null,
      });
    }
    update({ notice: "connection_missing" });
  }

  /** Starts a new flow after an error that ended this one. If typed text would be lost, shows the error instead. */
  async function startNewFlow(errorAnswer: FlowAnswer, rejected: Step | null): Promise<void> {
    if (rejected && hasText(rejected.input)) return show(errorAnswer, { performed: rejected.action });
    const answer = await server.start(type, await reported()).catch(() => null);
    if (!answer) return update({ notice: "connection_missing" });
    show(answer, {
      performed: null,
      subject: null,
      notice: rejected && !rejected.automatic ? "page_renewed" : null,
    });
  }

  /** Handles an error answer that shows no state of the flow. */
  async function handleErrorAnswer(errorAnswer: FlowAnswer, step: Step): Promise<void> {
    const { status } = errorAnswer.state;
    if (status === 410) return startNewFlow(errorAnswer, step);
    // The session has ended, so the shown state cannot be continued.
    if (status === 401) return show(errorAnswer, { performed: step.action });
    if (status === 403) {
      const answer = await requestCurrent();
      if (!answer) return reconnect(step.action);
      if (isPostponed(answer)) return keepState(answer, step.action);
      if (isErrorAnswer(answer.state)) return startNewFlow(answer, step);
      const notice = server.forgets?.() ? "cookies_blocked" : "page_out_of_date";
      return show(answer, { performed: null, notice: step.automatic ? null : notice });
    }
    // The state is unchanged: the page keeps it and the typed text.
    keepState(errorAnswer, step.action);
  }

  async function act(
    action: string,
    input: Record<string, unknown>,
    options: ActOptions = {},
  ): Promise<void> {
    const shown = view.state;
    await exclusively(action, options.background ?? false, async () => {
      // The state or the account changed while this call was queued, so it no longer applies.
      if (view.state.name !== shown.name || accountIdOf(view.state) !== accountIdOf(shown)) return;
      const itemId = options.itemId ?? null;
      if (isAccount(view.state)) asked = { account: view.state, action, input, itemId };
      update({ itemId });
      let answer: FlowAnswer;
      try {
        answer = await send(action, input);
      } catch {
        return reconnect(action);
      }
      if (isErrorAnswer(answer.state))
        return handleErrorAnswer(answer, { action, input, automatic: options.automatic ?? false });
      const call = performedAfterProof(answer.state) ?? { account: view.state, action, input, itemId };
      const subject =
        type === "profile"
          ? identifierAfterAccountAction(call, answer.state, view.subject)
          : (identifierIn(input) ?? view.subject);
      const { notice } = options;
      show(answer, { performed: call.action, itemId: call.itemId, subject, ...(notice ? { notice } : {}) });
    });
  }

  /** Performs an action on the server. What was typed into a flow that has expired is taken into another one. */
  async function send(action: string, input: Record<string, unknown>): Promise<FlowAnswer> {
    if (view.version === 0) return server.act(type, action, 0, input, await reported());
    const answer = await server.act(type, action, view.version, input);
    if (answer.state.status !== 410 || !isErrorAnswer(answer.state) || !hasText(input)) return answer;
    const another = await server.act(type, action, 0, input, await reported()).catch(() => null);
    // Only the first state of a flow can be answered again.
    return another && !isErrorAnswer(another.state) ? another : answer;
  }

  /** The call that the server performed after a re-authentication; null if it performed none. */
  function performedAfterProof(state: FlowState): AccountCall | null {
    const { performed_action: action } = state.payload;
    if (typeof action !== "string") return null;
    // Another page may have asked for it.
    return asked?.action === action ? asked : { account: state, action, input: {}, itemId: null };
  }

  /** Shows an answer to a request for the current state. */
  async function showCurrent(answer: FlowAnswer): Promise<void> {
    if (isPostponed(answer)) return keepState(answer, null);
    if (isErrorAnswer(answer.state)) return startNewFlow(answer, null);
    const same = answer.state.name === view.state.name;
    // A renewed state does not change the notice.
    const { notice, refusal, answerCount } = view;
    const kept = answer.version === view.version ? keepingError(answer, view.state) : answer;
    show(kept, same ? { notice, refusal, answerCount } : { performed: null });
  }

  async function refresh(): Promise<void> {
    await exclusively("", true, async () => {
      const answer = await requestCurrent();
      if (answer && !isPostponed(answer)) await showCurrent(answer);
    });
  }

  async function renew(): Promise<FlowState> {
    await exclusively("renew", false, async () => {
      const answer = await requestCurrent();
      await (answer ? showCurrent(answer) : reconnect(null));
    });
    return view.state;
  }

  async function restart(identifier?: string): Promise<void> {
    await exclusively("restart", false, async () => {
      const capabilities = await reported();
      const another =
        identifier === undefined
          ? server.start(type, capabilities)
          : startFor(server, identifier, capabilities);
      const answer = await another.catch(() => null);
      if (answer && isPostponed(answer)) return keepState(answer, null);
      if (answer) return show(answer, { performed: null, subject: identifier ?? null });
      update({ notice: "connection_missing" });
    });
  }

  async function begin(): Promise<void> {
    if (server.forgets?.()) return update({ notice: "cookies_blocked" });
    const available = await reported();
    const isOffered = Object.hasOwn(view.state.actions, "webauthn_verify_assertion_response");
    const lacks = lacksOptions(view.state) && available.webauthn_conditional_mediation_available;
    // A browser without WebAuthn is not offered passkeys any more.
    const changes = !available.webauthn_available || lacks;
    // The flow of an account is started at once: it belongs to the session that the page was made for.
    if (!isAccount(view.state) && !(isOffered && changes)) return;
    await exclusively("", true, async () => {
      const { version, state } = view;
      // A step has started the flow meanwhile, and reported the capabilities.
      if (version !== 0) return;
      const answer = await server
        .act(type, "register_client_capabilities", 0, { ...available }, available)
        .catch(() => null);
      // Without an answer the form still works, and its first step starts the flow.
      if (!answer) return;
      if (!isErrorAnswer(answer.state)) return showCurrent(keepingError(answer, state));
      const other = answer.state.status === 403 ? await requestCurrent() : null;
      if (other && !isErrorAnswer(other.state)) await showCurrent(other);
    });
  }

  return {
    begin,
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    act,
    refresh,
    renew,
    restart,
    retry: () => exclusively("retry", false, () => reconnect(null)),
    showNotice: (notice) => update({ notice }),
    quietly: (call) => exclusively("", true, () => call(view)),
  };
}

/** The same state with the error that the page shows, for instance of the flow before, and the wait of that error. */
function keepingError(answer: FlowAnswer, { name, status, error, payload }: FlowState): FlowAnswer {
  if (!error || name !== answer.state.name || answer.state.error) return answer;
  const { resend_after, retry_after } = payload;
  const wait = retry_after === undefined ? {} : { resend_after, retry_after };
  return {
    ...answer,
    state: { ...answer.state, status, error, payload: { ...answer.state.payload, ...wait } },
  };
}

/** How long an answer without a state asks to wait; null if it does not. */
function refusalIn({ payload: { retry_after } }: FlowState): FlowView["refusal"] {
  return typeof retry_after === "number" && retry_after > 0 ? { seconds: Math.ceil(retry_after) } : null;
}

/** An answer that the flow cannot be read now is like none: the flow goes on. */
function available(answer: FlowAnswer): FlowAnswer | null {
  return answer.state.status === 503 && isErrorAnswer(answer.state) ? null : answer;
}

function hasText(input: Record<string, unknown>): boolean {
  return Object.values(input).some((value) => typeof value === "string" && value !== "");
}

/** Waits for the given time, or until the browser is online again. */
function sleepOrOnline(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
  });
}
