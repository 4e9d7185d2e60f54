"use client";

import {
  Alert,
  Badge,
  Button,
  Group,
  Paper,
  Progress,
  Skeleton,
  Stack,
  Table,
  Text,
  Title,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Failure } from "../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../_parts/change.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { Panel } from "../../../_parts/panel.tsx";
import { Sentence } from "../../../_parts/sentence.tsx";
import { useMay } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Reseal = AdminOperations["getReseal"]["answer"];
type SecretKeys = AdminOperations["getSecretKeys"]["answer"];

const texts = words.sealingKeys;

/** While values are moved, how far that is is asked for. */
const POLL_MS = 2_000;

const isOpen = (reseal: Reseal | undefined) => reseal?.state === "waiting" || reseal?.state === "running";

/** The secret keys of the service by their names, what is under each, and the move under the first one. */
export function SealingKeys() {
  const trpc = useTRPC();
  const may = useMay();
  const { data, error, refetch } = useQuery(trpc.getSecretKeys.queryOptions({}));
  const listed = useQuery(
    trpc.listReseals.queryOptions(
      { query: { per_page: 1 } },
      { refetchInterval: ({ state }) => (isOpen(state.data?.items[0]) ? POLL_MS : false) },
    ),
  );
  const [last] = listed.data?.items ?? [];
  const begin = useChange(trpc.beginReseal.mutationOptions(), texts.begun);
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" mih={36}>
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        {may("beginReseal") && (
          <ConfirmedButton
            label={texts.reseal}
            title={texts.resealQuestion}
            color="indigo"
            disabled={isOpen(last)}
            loading={begin.isPending}
            onConfirm={() => begin.mutateAsync({})}
          >
            {texts.resealConsequence}
          </ConfirmedButton>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        <Sentence text={texts.sentence} />
      </Text>
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton height={160} />}
      {data && <KeyTable keys={data} />}
      {last && <Progressing reseal={last} />}
    </Stack>
  );
}

function KeyTable({ keys: { keys, values } }: { keys: SecretKeys }) {
  return (
    <Paper withBorder style={{ overflow: "hidden" }}>
      <Table.ScrollContainer minWidth={640}>
        <Table aria-label={texts.title} horizontalSpacing="md" verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.key}</Table.Th>
              <Table.Th>{texts.place}</Table.Th>
              <Table.Th>{texts.values}</Table.Th>
              <Table.Th>{texts.under}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map(({ id, place, values: count, removable }) => (
              <Table.Tr key={id}>
                <Table.Td style={{ verticalAlign: "top" }}>
                  <Identifier value={id} />
                </Table.Td>
                <Table.Td style={{ verticalAlign: "top" }}>
                  <Stack gap={2} align="flex-start">
                    <Badge
                      variant="light"
                      tt="none"
                      color={place === null ? "red" : place === 1 ? "teal" : "gray"}
                    >
                      {place === null ? texts.unknown : place === 1 ? texts.first : texts.former(place)}
                    </Badge>
                    {removable && (
                      <Text size="xs" c="dimmed">
                        {texts.removable}
                      </Text>
                    )}
                  </Stack>
                </Table.Td>
                <Table.Td style={{ verticalAlign: "top" }}>{count.toLocaleString("en")}</Table.Td>
                <Table.Td>
                  {values
                    .filter(({ key }) => key === id)
                    .map(({ holds, count: number, after }) => (
                      <Text key={holds} size="xs" c="dimmed">
                        {number.toLocaleString("en")} × {holds}
                        {place === 1 ? "" : ` (${texts.after[after]})`}
                      </Text>
                    ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

/** The newest move, by column. */
function Progressing({ reseal }: { reseal: Reseal }) {
  const trpc = useTRPC();
  const may = useMay();
  const cancel = useChange(trpc.cancelReseal.mutationOptions(), texts.cancelled);
  const { id, state, moved, columns, failure, updated_at } = reseal;
  const done = columns.filter((column) => column.done).length;
  const unknown = [...new Set(columns.flatMap(({ unknown_keys }) => unknown_keys))];
  const broken = columns.reduce((all, column) => all + column.broken, 0);
  const begun = columns.filter(({ total }) => total !== null && total > 0);
  return (
    <Panel
      title={texts.states[state]}
      sentence={texts.moved(moved)}
      action={
        isOpen(reseal) && may("cancelReseal") ? (
          <Button
            variant="light"
            color="red"
            loading={cancel.isPending}
            onClick={() => cancel.mutate({ id })}
          >
            {words.cancel}
          </Button>
        ) : (
          <Moment at={updated_at} />
        )
      }
    >
      {isOpen(reseal) && (
        <Progress
          value={(100 * done) / columns.length}
          aria-label={texts.progress(done, columns.length)}
          animated
        />
      )}
      {failure && <Failure error={{ message: failure }} />}
      {unknown.length > 0 && (
        <Alert color="red">
          <Sentence text={texts.unknownKeys} /> {unknown.join(", ")}
        </Alert>
      )}
      {broken > 0 && <Alert color="red">{texts.broken(broken)}</Alert>}
      {begun.length > 0 && (
        <Table aria-label={texts.byTable} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.table}</Table.Th>
              <Table.Th>{texts.movedValues}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {begun.map(({ holds, table, column, total, moved: count }) => (
              <Table.Tr key={`${table}.${column}`}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{holds}</Table.Td>
                <Table.Td>{texts.of(count, total ?? 0)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  );
}
