"use client";

import { Alert, Anchor, Code, List, Skeleton, Stack, Table, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { AdminOperations } from "../../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../../_api/provider.tsx";
import { Empty, Failure } from "../../../../../_parts/answers.tsx";
import { BackLink } from "../../../../../_parts/back-link.tsx";
import { Moment } from "../../../../../_parts/moment.tsx";
import { PageHead } from "../../../../../_parts/page-head.tsx";
import { Panel } from "../../../../../_parts/panel.tsx";
import { useSearchState } from "../../../../../_parts/search-state.ts";
import { usePagePath, useTenant } from "../../../../../_shell/me.tsx";
import { words } from "../../../../../_words.ts";

type Test = AdminOperations["getProviderTest"]["answer"];
type Result = NonNullable<Test["result"]>;

const texts = words.providers.test;

/** While the browser is at the provider, in another window, the result is asked for. */
const POLL_MS = 3_000;

/** What came of a test sign-in: what would become of a real one, and what the provider stated. */
export function TestResult({ provider }: { provider: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [of] = useSearchState();
  const { data, error } = useQuery(
    trpc.getProviderTest.queryOptions(
      { tenant, test_id: of("id") },
      { refetchInterval: ({ state }) => (state.data?.result || state.error ? false : POLL_MS) },
    ),
  );
  return (
    <>
      <BackLink to={`providers/${encodeURIComponent(provider)}`} label={texts.back} />
      <PageHead
        title={texts.title}
        sentence={
          data && (
            <>
              {texts.deleted} <Moment at={data.expires_at} />.
            </>
          )
        }
      />
      {error?.data?.httpStatus === NOT_FOUND ? (
        <Empty title={texts.gone} sentence={texts.goneSentence} />
      ) : (
        error && <Failure error={error} />
      )}
      {!data && !error && <Skeleton height={300} />}
      {data && !data.result && <Empty title={texts.waiting} sentence={texts.waitingSentence} />}
      {data?.result && <Shown result={data.result} />}
    </>
  );
}

const NOT_FOUND = 404;

function Shown({ result }: { result: Result }) {
  const pathOf = usePagePath();
  const { outcome, message, reason, detail, notes, user, mapping, received } = result;
  const isAccepted = outcome === "accepted";
  return (
    <Stack>
      <Alert
        color={isAccepted ? "teal" : "red"}
        icon={isAccepted ? <IconCircleCheck size={18} /> : <IconAlertTriangle size={18} />}
        title={texts.outcomes[outcome]}
      >
        <Stack gap="xs">
          <Text size="sm">{message}</Text>
          {user && (
            <Text size="sm">
              {texts.account}{" "}
              <Anchor component={Link} size="sm" href={pathOf(`users/${user.id}`)} c="inherit" td="underline">
                {user.email ?? user.id}
              </Anchor>
            </Text>
          )}
          {notes.length > 0 && (
            <List size="sm">
              {notes.map((note) => (
                <List.Item key={note}>{note}</List.Item>
              ))}
            </List>
          )}
          {reason && (
            <Text size="sm">
              {texts.reason} <Code>{detail ? `${reason}: ${detail}` : reason}</Code>
            </Text>
          )}
        </Stack>
      </Alert>
      {mapping.length > 0 && (
        <Panel title={texts.mapping} sentence={texts.mappingSentence}>
          <Rows
            label={texts.mapping}
            head={[texts.fact, texts.from, texts.value]}
            rows={mapping.map(({ fact, from, value }) => [fact, from, value])}
          />
        </Panel>
      )}
      {received.map(({ source, claims }) => (
        <Panel key={`${source} ${claims.map(({ name }) => name).join(" ")}`} title={texts.sources[source]}>
          <Rows
            label={texts.sources[source]}
            head={[texts.claim, texts.value]}
            rows={claims.map(({ name, value }) => [name, value])}
          />
        </Panel>
      ))}
    </Stack>
  );
}

/** A table of texts. They are a provider's: React writes them as text. */
function Rows({ label, head, rows }: { label: string; head: string[]; rows: (string | null)[][] }) {
  return (
    <Table aria-label={label} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          {head.map((name) => (
            <Table.Th key={name}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((cells) => (
          <Table.Tr key={cells[0]}>
            {cells.map((cell, column) => (
              <Table.Td key={head[column]} style={{ overflowWrap: "anywhere", verticalAlign: "top" }}>
                {column === 0 ? (
                  cell
                ) : cell === null ? (
                  <Text span size="sm" c="dimmed">
                    {words.none}
                  </Text>
                ) : (
                  <Code style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{cell}</Code>
                )}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
