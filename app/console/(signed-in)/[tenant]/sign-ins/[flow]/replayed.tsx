import { Alert, Code, List, Stack, Table, Text } from "@mantine/core";
import { IconArrowsSplit, IconCircleCheck } from "@tabler/icons-react";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { spoken } from "../../../../_parts/protocol-name.ts";
import { Sentence } from "../../../../_parts/sentence.tsx";
import { words } from "../../../../_words.ts";

type ReplayedFlow = AdminOperations["replayFlow"]["answer"];
type Difference = NonNullable<ReplayedFlow["first_difference"]>;
type Answer = ReplayedFlow["steps"][number]["recorded"];

/** Settings that are listed. */
const MAX_SETTINGS = 12;

const text = words.flow.replay;

/** How a flow that was performed again differs, and its steps side by side. */
export function Replayed({ replayed }: { replayed: ReplayedFlow }) {
  const { first_difference: first, differences, steps } = replayed;
  return (
    <Stack gap="md" role="status">
      {first ? (
        <Alert color="orange" icon={<IconArrowsSplit size={18} />} title={text.first(first.step)}>
          <FirstDifference difference={first} />
          {differences.length > 1 && (
            <Text size="xs" mt="xs" c="var(--mantine-color-text)">
              {text.more(differences.length - 1)}
            </Text>
          )}
        </Alert>
      ) : (
        <Alert color="teal" icon={<IconCircleCheck size={18} />} title={text.same(steps.length)} />
      )}
      <Steps steps={steps} first={first?.step ?? null} />
    </Stack>
  );
}

function FirstDifference({ difference }: { difference: Difference }) {
  const { kind, about, recorded, now, decided_then, decided_now, settings } = difference;
  const named = (name: string | null) => (name === null ? text.nothing : spoken(name));
  const [last, shown] = [kind === "unknown" ? (now ?? "") : named(now), settings.slice(0, MAX_SETTINGS)];
  return (
    <Stack gap="xs" c="var(--mantine-color-text)">
      <Text size="sm">{text.kinds[kind](named(about), named(recorded), last)}</Text>
      <Reasons title={text.decidedThen} reasons={decided_then} />
      <Reasons title={text.decidesNow} reasons={decided_now} />
      {shown.length > 0 && (
        <div>
          <Text size="sm" fw={500}>
            {text.changed}
          </Text>
          <List size="sm">
            {shown.map(({ name, before, now: value }) => (
              <List.Item key={name} style={{ overflowWrap: "anywhere" }}>
                <Code>{text.setting(name, before, value)}</Code>
              </List.Item>
            ))}
            {settings.length > shown.length && (
              <List.Item>{text.moreSettings(settings.length - shown.length)}</List.Item>
            )}
          </List>
        </div>
      )}
    </Stack>
  );
}

function Reasons({ title, reasons }: { title: string; reasons: Difference["decided_now"] }) {
  if (reasons.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <List size="sm">
        {reasons.map(({ name, sentence }) => (
          <List.Item key={name}>
            <Sentence text={sentence} />
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function Steps({ steps, first }: { steps: ReplayedFlow["steps"]; first: number | null }) {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table aria-label={text.steps} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{text.step}</Table.Th>
            <Table.Th>{text.action}</Table.Th>
            <Table.Th>{text.recorded}</Table.Th>
            <Table.Th>{text.nowColumn}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {steps.map(({ action, recorded, now }, index) => (
            <Table.Tr
              // biome-ignore lint/suspicious/noArrayIndexKey: a step has no other name than its position.
              key={index}
              {...(first === index + 1 ? { bg: "var(--mantine-color-orange-light)" } : {})}
            >
              <Table.Td>{index + 1}</Table.Td>
              <Table.Td>{action === null ? words.flow.start : spoken(action)}</Table.Td>
              <Table.Td>{answerOf(recorded)}</Table.Td>
              <Table.Td>{now ? answerOf(now) : text.notPerformed}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function answerOf({ verdict, state, error }: Answer): string {
  if (state === null) return error === null ? verdict : spoken(error);
  return error === null ? spoken(state) : `${spoken(state)}: ${spoken(error)}`;
}
