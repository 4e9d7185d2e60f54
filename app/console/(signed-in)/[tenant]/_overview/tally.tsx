"use client";

import { Paper, Progress, Stack, Table, Text, Title } from "@mantine/core";
import { causeName } from "../../../_parts/protocol-name.ts";
import { words } from "../../../_words.ts";

const SHOWN = 10;

/** How often each of some causes was counted, most often first, and how often in the time before. */
export function Tally({
  title,
  none,
  now,
  before,
}: {
  title: string;
  none: string;
  now: Readonly<Record<string, number>>;
  before: Readonly<Record<string, number>>;
}) {
  const counts = Object.entries(now).toSorted(([, one], [, other]) => other - one);
  const most = counts[0]?.[1] ?? 1;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {counts.length === 0 ? (
          <Text size="sm" c="dimmed">
            {none}
          </Text>
        ) : (
          <Table aria-label={title} verticalSpacing={6} horizontalSpacing="xs" layout="fixed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.overview.cause}</Table.Th>
                <Table.Th w={72} ta="end">
                  {words.overview.count}
                </Table.Th>
                <Table.Th w={72} ta="end">
                  {words.overview.countBefore}
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {counts.slice(0, SHOWN).map(([name, count]) => (
                <Table.Tr key={name}>
                  <Table.Td>
                    <Text size="sm" truncate title={name}>
                      {causeName(name)}
                    </Text>
                    <Progress.Root size={4} mt={2} aria-hidden>
                      <Progress.Section value={(count / most) * 100} color="orange.6" withAria={false} />
                    </Progress.Root>
                  </Table.Td>
                  <Table.Td ta="end">{count.toLocaleString("en")}</Table.Td>
                  <Table.Td ta="end">
                    <Text size="sm" c="dimmed">
                      {(before[name] ?? 0).toLocaleString("en")}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        {counts.length > SHOWN && (
          <Text size="xs" c="dimmed">
            {words.overview.more(counts.length - SHOWN)}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
