"use client";

import { Alert, Badge, Button, Code, Skeleton, Stack, Table, Text, Title, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

/** Sign-ins that failed with an identifier that has no account: certain ones, and those that only look the same. */
export function FailedSignIns({ identifier }: { identifier: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const { data, error, refetch } = useQuery(
    trpc.findFailedSignIns.queryOptions({ tenant, query: { identifier } }),
  );
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton height={240} m="md" w="auto" />;
  const { failures, mask, user_id, is_complete } = data;
  return (
    <Stack p="md" gap="sm">
      <Title order={2} size="h4">
        {words.failedSignIns.title}
      </Title>
      <Text size="sm" c="dimmed">
        {words.failedSignIns.mask} <Code style={{ whiteSpace: "nowrap" }}>{mask}</Code>
      </Text>
      {user_id && (
        <Alert color="indigo" title={words.failedSignIns.hasAccount}>
          <Button component={Link} size="xs" variant="default" href={pathOf(`users/${user_id}`)}>
            {words.failedSignIns.toAccount}
          </Button>
        </Alert>
      )}
      {failures.length === 0 ? (
        <Empty title={words.failedSignIns.empty} sentence={words.failedSignIns.emptySentence} />
      ) : (
        <Table.ScrollContainer minWidth={560}>
          <Table aria-label={words.failedSignIns.title}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.auditLog.time}</Table.Th>
                <Table.Th>{words.failedSignIns.about}</Table.Th>
                <Table.Th>{words.auditLog.type}</Table.Th>
                <Table.Th>{words.auditLog.details}</Table.Th>
                <Table.Th>{words.auditLog.source}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {failures.map(({ certain, entry }) => (
                <Table.Tr key={entry.id}>
                  <Table.Td>
                    <Moment at={entry.created_at} />
                  </Table.Td>
                  <Table.Td>
                    {certain ? (
                      <Badge variant="light" color="red">
                        {words.failedSignIns.certain}
                      </Badge>
                    ) : (
                      <Tooltip label={words.failedSignIns.possibleHint}>
                        <Badge variant="light" color="gray">
                          {words.failedSignIns.possible}
                        </Badge>
                      </Tooltip>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Code>{entry.type}</Code>
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm">
                      {typeof entry.details.reason === "string" ? entry.details.reason : ""}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm">{entry.meta_source_ip}</Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {!is_complete && (
        <Text size="sm" c="dimmed">
          {words.failedSignIns.incomplete}
        </Text>
      )}
    </Stack>
  );
}
