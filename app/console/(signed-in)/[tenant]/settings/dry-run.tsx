import { Alert, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from "@tabler/icons-react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { Sentence } from "../../../_parts/sentence.tsx";
import { words } from "../../../_words.ts";

type Found = AdminOperations["dryRunSettings"]["answer"];

/** The effects in the order of their weight. Those who are locked out in either case are not the change's doing. */
const effects = [
  "locked_out",
  "second_factor_asked",
  "set_up_asked",
  "second_factor_not_asked",
  "set_up_not_asked",
  "regains_access",
] as const;

/** What a change of settings would do to users and to flows under way. */
export function DryRun({ found }: { found: Found }) {
  const affected = effects.filter((effect) => found[effect].count > 0);
  if (affected.length === 0 && found.flows.length === 0)
    return (
      <Alert color="teal" icon={<IconCircleCheck size={18} />}>
        {words.settings.affectsNone(found.users)}
      </Alert>
    );
  return (
    <Stack gap="sm">
      {affected.map((effect) => (
        <Alert
          key={effect}
          color={effect === "locked_out" ? "red" : "blue"}
          icon={effect === "locked_out" ? <IconAlertTriangle size={18} /> : <IconInfoCircle size={18} />}
          title={words.settings.effects[effect](found[effect].count)}
        >
          {found[effect].groups.map(({ count, reasons, sample, keys }) => (
            <Stack key={keys.join(" ")} gap={2} mb="xs">
              <Text size="sm" component="div">
                {words.settings.group(count)} <Sentence text={reasons.join(" ")} />
              </Text>
              <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                {sample.map(({ id, email, username, phone }) => email ?? username ?? phone ?? id).join(", ")}
              </Text>
            </Stack>
          ))}
        </Alert>
      ))}
      {found.flows.length > 0 && (
        <Alert color="blue" icon={<IconInfoCircle size={18} />} title={words.settings.flows}>
          <List size="sm">
            {found.flows.map(({ type, state, count, ends, withdrawn }) => (
              <List.Item key={`${type} ${state}`}>
                {words.settings.flow(count, `${type}, ${state}`, ends)}{" "}
                {withdrawn.map(({ action }) => action).join(", ")}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
