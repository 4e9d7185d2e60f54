import { Badge } from "@mantine/core";
import { words } from "../../../_words.ts";

/** Whether a webhook is told of events; null: it is one of the configuration. */
export function WebhookState({ webhook }: { webhook: { enabled: boolean } | null }) {
  if (!webhook)
    return (
      <Badge variant="light" color="gray" tt="none">
        {words.webhooks.fromConfiguration}
      </Badge>
    );
  return (
    <Badge variant="light" color={webhook.enabled ? "teal" : "gray"} tt="none">
      {webhook.enabled ? words.enabled : words.disabled}
    </Badge>
  );
}
