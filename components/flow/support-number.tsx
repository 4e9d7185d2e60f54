import { useState } from "react";
import type { FlowWords } from "#words/flow";
import type { FlowAnswer, FlowServer } from "./flow-server.ts";

/** The number of the flow that a page shows, as far as an answer had it, and a server that notes it. */
export function useSupportNumber(initial: FlowAnswer): {
  number: string | null;
  noting(server: FlowServer): FlowServer;
} {
  const [number, setNumber] = useState(initial.support_number ?? null);
  const note = (answer: FlowAnswer) => {
    if (answer.support_number !== undefined) setNumber(answer.support_number);
    return answer;
  };
  return {
    number,
    noting: (server) => ({
      ...server,
      start: (...call) => server.start(...call).then(note),
      act: (...call) => server.act(...call).then(note),
      current: (...call) => server.current(...call).then(note),
    }),
  };
}

/** The number that a user reads out to an operator, whole at one click. */
export function SupportNumber({ number, words }: { number: string | null; words: FlowWords }) {
  if (number === null) return null;
  return (
    <p className="stile-support">
      {`${words.page.supportNumber} `}
      <bdi dir="ltr" translate="no">
        {number}
      </bdi>
    </p>
  );
}
