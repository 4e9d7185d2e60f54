import { useEffect, useRef } from "react";
import type { FlowWords } from "#words/flow";
import { type EmbeddingOptions, type FlowResult, resultOf } from "../flow/embedding.ts";
import type { RunningFlow } from "../flow/use-running-flow.ts";
import { codeOf, errorText } from "../flow/words.ts";

/** What an application is told about a flow that it embeds. */
export type FlowEvents = Pick<EmbeddingOptions, "onSuccess" | "onStateChange" | "onError">;

/**
 * Reports states, errors and the result of a flow in an application's page. Each is reported once; the result after the
 * recovery codes are saved.
 *
 * @param result the result where the state does not contain all of it
 */
export function useFlowEvents(
  events: FlowEvents,
  { flow, stateView }: RunningFlow,
  words: FlowWords,
  result: () => FlowResult | null = () => null,
): void {
  const { state, notice, version } = flow.view;
  const unsavedCodes = stateView.unsavedCodes.length > 0;
  const handlers = useRef({ ...events, words });
  handlers.current = { ...events, words };

  // biome-ignore lint/correctness/useExhaustiveDependencies: each state is reported once
  useEffect(() => {
    if (version > 0) handlers.current.onStateChange?.({ name: state.name });
  }, [state.name, version > 0]);

  useEffect(() => {
    const { onError, words } = handlers.current;
    if (state.error) onError?.({ code: codeOf(state.error), message: errorText(words, state.error) });
  }, [state]);

  useEffect(() => {
    const { onError, words } = handlers.current;
    if (notice && Object.hasOwn(words.errors, notice) && !reassuring.has(notice))
      onError?.({ code: notice, message: errorText(words, { code: notice }) });
  }, [notice]);

  const isSuccess = state.name === "success" && !unsavedCodes;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the result is reported once
  useEffect(() => {
    if (isSuccess) handlers.current.onSuccess?.(result() ?? resultOf(state));
  }, [isSuccess]);
}

/** Notices that report no error. */
const reassuring = new Set(["connection_back", "page_renewed", "proved_again"]);
