"use client";

import { Alert, Button, Grid, Group, Paper, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import dayjs from "dayjs";
import Link from "next/link";
import { inGroups } from "#server/recorder/written-support-number";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty, Failure, isMissing } from "../../../../_parts/answers.tsx";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { spoken } from "../../../../_parts/protocol-name.ts";
import { useSearchState } from "../../../../_parts/search-state.ts";
import { StateGraph } from "../../../../_parts/state-graph.tsx";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Outcome } from "../outcome.tsx";
import { endingOf } from "./flow-ending.ts";
import { type DeclaredGraph, type Flow, pathGraph } from "./flow-path.ts";
import { FlowTimeline, stepAnchor } from "./flow-timeline.tsx";
import { Replay } from "./replay.tsx";
import { SeenState } from "./seen-state.tsx";

/** How much of the audit log around a flow is linked to. */
const AROUND_MINUTES = 1;

const GRAPH_HEIGHT = 280;

/** The declared graph is the same until the service is updated. */
async function readDeclaredGraph(): Promise<DeclaredGraph> {
  const answer = await fetch("/.well-known/flow-graph.json");
  if (!answer.ok) throw new Error(words.flow.noGraph);
  return answer.json();
}

/** What happened in a flow, what was offered, and why the rest was not. */
export function RecordedFlow({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const { data: flow, error, refetch } = useQuery(trpc.getFlow.queryOptions({ tenant, id }));
  const { data: declared } = useQuery({
    queryKey: ["flow-graph"],
    queryFn: readDeclaredGraph,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <BackLink to="sign-ins" label={words.pages.sign_ins} />
      {flow ? (
        <FlowPage flow={flow} declared={declared} />
      ) : error ? (
        <>
          <PageHead title={words.flow.title} />
          {isMissing(error) ? (
            <Empty title={words.flow.missing} sentence={words.flow.missingSentence} />
          ) : (
            <Failure error={error} retry={() => void refetch()} />
          )}
        </>
      ) : (
        <>
          <PageHead title={words.flow.title} />
          <Skeleton height={80} />
          <Skeleton height={GRAPH_HEIGHT} />
          <Skeleton height={240} />
        </>
      )}
    </>
  );
}

function FlowPage({ flow, declared }: { flow: Flow; declared: DeclaredGraph | undefined }) {
  const pathOf = usePagePath();
  const may = useMay();
  const [value, change] = useSearchState();
  const showsOthers = value("ways") === "all";
  const last = flow.path.length - 1;
  const named = Math.trunc(Number(value("step"))) - 1;
  const chosen = named >= 0 && named <= last ? named : last;
  const step = flow.path[chosen];
  const choose = (index: number) =>
    change({ step: index === last ? "" : String(index + 1) }, { replaces: true });
  const drawing = pathGraph(flow, showsOthers ? declared : undefined);
  const minutes = (at: string, added: number) => dayjs(at).add(added, "minute").toISOString();
  const around = new URLSearchParams({
    from: minutes(flow.started_at, -AROUND_MINUTES),
    to: minutes(flow.last_step_at, AROUND_MINUTES),
    ...(flow.user_id ? { user: flow.user_id } : {}),
  });
  return (
    <>
      <PageHead
        title={
          <Group gap="sm" component="span">
            <span>{inGroups(flow.support_number)}</span>
            <Outcome outcome={flow.outcome} />
          </Group>
        }
        sentence={
          <>
            {spoken(flow.type)}, {words.flow.started} <Moment at={flow.started_at} />
          </>
        }
      >
        {flow.user_exists && may("getUser") && (
          <Button variant="default" component={Link} href={pathOf(`users/${flow.user_id}`)}>
            {words.flow.user}
          </Button>
        )}
        {may("listAuditLogs") && (
          <Button variant="default" component={Link} href={`${pathOf("audit-log")}?${around}`}>
            {words.flow.auditLog}
          </Button>
        )}
      </PageHead>
      <Alert
        icon={<IconInfoCircle size={18} />}
        color={flow.outcome === "rejected" ? "red" : flow.outcome === "completed" ? "teal" : "gray"}
        variant="light"
      >
        <Text size="sm" c="var(--mantine-color-text)">
          {endingOf(flow)}
        </Text>
      </Alert>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {words.flow.path}
          </Title>
          <Switch
            label={words.flow.others}
            checked={showsOthers}
            disabled={!declared}
            onChange={(event) =>
              change({ ways: event.currentTarget.checked ? "all" : "" }, { replaces: true })
            }
          />
        </Group>
        <StateGraph
          label={words.flow.graph}
          states={drawing.states}
          steps={drawing.steps}
          height={GRAPH_HEIGHT}
          onState={(name) => {
            const index = flow.path.findLastIndex((step) => step.state === name);
            choose(index);
            document.getElementById(stepAnchor(index))?.scrollIntoView({ block: "start" });
          }}
        />
      </Stack>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {words.flow.timeline}
        </Title>
        <Grid>
          <Grid.Col span={{ base: 12, md: 7 }} order={{ base: 2, md: 1 }}>
            <Paper withBorder p="md">
              <FlowTimeline flow={flow} declared={declared} chosen={chosen} onChoose={choose} />
            </Paper>
          </Grid.Col>
          {step && may("previewPages") && (
            <Grid.Col span={{ base: 12, md: 5 }} order={{ base: 1, md: 2 }}>
              <SeenState flow={flow} step={step} declared={declared} />
            </Grid.Col>
          )}
        </Grid>
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            {words.flow.id}
          </Text>
          <Identifier value={flow.id} />
        </Group>
      </Stack>
      {may("replayFlow") && <Replay id={flow.id} />}
    </>
  );
}
