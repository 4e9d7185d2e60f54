import { useSyncExternalStore } from "react";
import type { FlowState } from "#server/flow/wire";
import { isAccount } from "./account.ts";
import type { FlowAnswer, FlowServer, FlowType } from "./flow-server.ts";
import { namedIn, subjectBeyond } from "./shown-identifier.ts";

/** What there is to draw. */
export interface FlowView {
  version: number;
  state: FlowState;
  /** The action that is being performed; null while the person may act. */
  busy: string | null;
  /** Code of something to tell that is not part of the state. */
  notice: string | null;
  /** The action whose answer is on show. */
  performed: string | null;
  /** Which of several things the action under way, or the one performed last, was about. */
  about: string | null;
  /** Whom the state is about: how the person named themselves, or who is signed in, as far as this page knows. */
  subject: string | null;
  /** The account as it was shown last, before the state on show. */
  account: FlowState | null;
  /** Where to go now. */
  leaving: string | null;
  /** Counts the answers to what the person did; a state that was only renewed does not count. */
  turn: number;
}

export interface Flow {
  view: FlowView;
  /** Performs an action. While another one is being performed this does nothing. */
  act(action: string, input: Record<string, unknown>, options?: ActOptions): Promise<void>;
  /** Asks for the current state without disturbing whoever is filling in a form. */
  refresh(): Promise<void>;
  /** Leaves the flow as it is and starts another one. */
  restart(): Promise<void>;
  /** Asks again after the connection was given up. */
  retry(): Promise<void>;
  /** Tells something beside the state on show. */
  tell(notice: string): void;
}

export interface ActOptions {
  /** The rest of the page stays usable; what is done meanwhile waits its turn. */
  quiet?: boolean;
  /** Told beside the state that the action leads to. */
  notice?: string;
  /** Nobody asked for it: if it comes to nothing, there is nothing to tell. */
  unasked?: boolean;
  /** Which of several things it is about. */
  about?: string;
}

/** Calls, and the view that they change. It knows nothing of React, and one of it lives as long as the page. */
export type FlowConversation = Omit<Flow, "view"> & {
  view(): FlowView;
  subscribe(listener: () => void): () => void;
};

export function useFlow(conversation: FlowConversation): Flow {
  const view = useSyncExternalStore(conversation.subscribe, conversation.view, conversation.view);
  return { ...conversation, view };
}

/** A step that was refused. */
interface Step {
  action: string;
  input: Record<string, unknown>;
  unasked: boolean;
}

/** Waits between attempts to reach the server again, in milliseconds. */
const pauses = [500, 1000, 2000, 4000, 8000];

/**
 * Speaks with the server about one flow: one call at a time, in order, and never without an end that a person can
 * go on from.
 *
 * @param initial the state that the page was drawn with
 */
export function converse(
  server: FlowServer,
  type: FlowType,
  initial: FlowAnswer,
  pause: (milliseconds: number) => Promise<void> = sleepOrOnline,
): FlowConversation {
  let view: FlowView = {
    ...{ version: initial.version, state: initial.state, leaving: initial.redirect_to ?? null },
    ...{ busy: null, notice: null, performed: null, about: null, subject: null, account: null, turn: 0 },
  };
  const listeners = new Set<() => void>();
  let quietCall: Promise<void> | null = null;

  function update(change: Partial<FlowView>): void {
    view = { ...view, ...change };
    for (const listener of listeners) listener();
  }

  /** Runs one call after the quiet one that may be under way; while a loud one is, nothing. */
  async function exclusively(label: string, quiet: boolean, call: () => Promise<void>): Promise<void> {
    if (view.busy !== null) return;
    if (!quiet) update({ busy: label });
    const before = quietCall;
    const run = (async () => {
      await before;
      await call();
    })().finally(() => {
      if (quietCall === run) quietCall = null;
      if (!quiet) update({ busy: null });
    });
    if (quiet) quietCall = run;
    await run;
  }

  function show(answer: FlowAnswer, change: Partial<FlowView>): void {
    const { version, state, redirect_to } = answer;
    update({
      ...{ version, state, leaving: redirect_to ?? null, notice: null, turn: view.turn + 1 },
      account: isAccount(view.state) ? view.state : view.account,
      // How somebody who is signed in came to a state is known only of what was done and answered on this page.
      subject: type === "profile" && version !== view.version ? null : view.subject,
      ...change,
    });
  }

  /** Asks for the current state until it comes, telling the person what happens. */
  async function reconnect(performed: string | null): Promise<void> {
    const before = view.state.name;
    update({ notice: "connection_lost" });
    for (const milliseconds of pauses) {
      await pause(milliseconds);
      const answer = await server.current(type).catch(() => null);
      if (!answer) continue;
      if (isRefusal(answer.state)) return startAfresh(answer, null);
      return show(answer, {
        performed,
        notice: answer.state.name === before && performed ? "connection_back" : null,
      });
    }
    update({ notice: "connection_missing" });
  }

  /** There is no flow to go on with. Nothing typed, nothing lost: then a new one takes its place unasked. */
  async function startAfresh(refusal: FlowAnswer, lost: Step | null): Promise<void> {
    if (lost && hasText(lost.input)) return show(refusal, { performed: lost.action });
    const answer = await server.start(type).catch(() => null);
    if (!answer) return update({ notice: "connection_missing" });
    show(answer, { performed: null, subject: null, notice: lost && !lost.unasked ? "page_renewed" : null });
  }

  /** What a refusal that shows no state of the flow leads to. */
  async function afterRefusal(refusal: FlowAnswer, step: Step): Promise<void> {
    const { status, error } = refusal.state;
    if (status === 410) return startAfresh(refusal, step);
    // Whoever was signed out meanwhile cannot go on from what they see.
    if (status === 401) return show(refusal, { performed: step.action });
    if (status === 403) {
      const answer = await server.current(type).catch(() => null);
      if (!answer) return reconnect(step.action);
      if (isRefusal(answer.state)) return startAfresh(answer, step);
      return show(answer, { performed: null, notice: step.unasked ? null : "page_out_of_date" });
    }
    // Nothing has changed at the server: the person keeps what they see and what they have typed.
    update({ performed: step.action, notice: error?.code ?? "technical_error" });
  }

  async function act(
    action: string,
    input: Record<string, unknown>,
    options: ActOptions = {},
  ): Promise<void> {
    const drawn = view.state.name;
    await exclusively(action, options.quiet ?? false, async () => {
      // While this waited, another state was drawn: nobody has asked it for anything.
      if (view.state.name !== drawn) return;
      const about = options.about ?? null;
      update({ about });
      let answer: FlowAnswer;
      try {
        answer = await server.act(type, action, view.version, input);
      } catch {
        return reconnect(action);
      }
      if (isRefusal(answer.state))
        return afterRefusal(answer, { action, input, unasked: options.unasked ?? false });
      const subject =
        type === "profile"
          ? subjectBeyond(view.state, action, input, answer.state, view.subject)
          : (namedIn(input) ?? view.subject);
      show(answer, { performed: action, subject, ...(options.notice ? { notice: options.notice } : {}) });
    });
  }

  async function refresh(): Promise<void> {
    await exclusively("", true, async () => {
      const answer = await server.current(type).catch(() => null);
      if (!answer) return;
      if (isRefusal(answer.state)) return startAfresh(answer, null);
      const same = answer.state.name === view.state.name;
      // A renewed state says nothing new about what was refused last.
      show(answer, same ? { notice: view.notice, turn: view.turn } : { performed: null });
    });
  }

  async function restart(): Promise<void> {
    await exclusively("restart", false, async () => {
      const answer = await server.start(type).catch(() => null);
      if (answer) return show(answer, { performed: null, subject: null });
      update({ notice: "connection_missing" });
    });
  }

  return {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    act,
    refresh,
    restart,
    retry: () => exclusively("retry", false, () => reconnect(null)),
    tell: (notice) => update({ notice }),
  };
}

/** A refusal that shows no state of the flow: there is an error and nothing to do. */
export function isRefusal(state: FlowState): boolean {
  return state.error !== undefined && Object.keys(state.actions).length === 0;
}

function hasText(input: Record<string, unknown>): boolean {
  return Object.values(input).some((value) => typeof value === "string" && value !== "");
}

/** Waits, or until the browser says that there is a network again. */
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
