import { Badge } from "@mantine/core";
import { words } from "../../../../_words.ts";

const colors = { waiting: "yellow", delivered: "teal", failed: "red" };

/** What became of a delivery. */
export function DeliveryState({ state }: { state: keyof typeof colors }) {
  return (
    <Badge variant="light" color={colors[state]} tt="none">
      {words.webhooks.states[state]}
    </Badge>
  );
}
