import { Badge } from "@mantine/core";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { words } from "../../../_words.ts";

/** An uploaded file of users. */
export type UserImport = AdminOperations["getImport"]["answer"];

type State = UserImport["state"];

const colors: Record<State, string> = {
  uploading: "gray",
  waiting: "blue",
  running: "blue",
  checked: "indigo",
  imported: "teal",
  failed: "red",
  cancelled: "gray",
};

export function ImportState({ state }: { state: State }) {
  return (
    <Badge variant="light" color={colors[state]}>
      {words.imports.states[state]}
    </Badge>
  );
}

/** Whether the service works on a file, or is going to. */
export const isUnderWay = ({ state }: UserImport): boolean => state === "waiting" || state === "running";
