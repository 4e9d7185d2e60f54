import { Badge } from "@mantine/core";
import { words } from "../../../_words.ts";

/** Whether users may sign in by a provider. */
export function ProviderState({ enabled }: { enabled: boolean }) {
  return (
    <Badge variant="light" color={enabled ? "teal" : "gray"} tt="none">
      {enabled ? words.enabled : words.disabled}
    </Badge>
  );
}
