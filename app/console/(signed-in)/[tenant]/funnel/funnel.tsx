"use client";

import { Alert, Box, Group, Paper, Select, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { keepPreviousData, skipToken, useQuery } from "@tanstack/react-query";
import { flowTypes } from "#server/flow/names";
import { browsers, countedEmbeddings, platforms } from "#server/funnel/measures";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { OptionField } from "../../../_parts/filters.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { spoken } from "../../../_parts/protocol-name.ts";
import { type Range, RangeChoice } from "../../../_parts/range.tsx";
import { useSearchState } from "../../../_parts/search-state.ts";
import { StateGraph } from "../../../_parts/state-graph.tsx";
import { stepLabel } from "../../../_parts/time-steps.ts";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { funnelGraph } from "./funnel-graph.ts";
import { type FlowType, type FunnelAnswer, type Method, useFunnelQuery } from "./funnel-query.ts";
import { FunnelTable } from "./funnel-table.tsx";
import { StateDrawer } from "./state-drawer.tsx";

const DEFAULT_TYPE: FlowType = "login";

/** By type, so that a method without a place here does not compile. */
const methods: Record<Method, true> = {
  password: true,
  passcode: true,
  sms: true,
  passkey: true,
  third_party: true,
  totp: true,
  security_key: true,
  authenticator: true,
  recovery_code: true,
  other: true,
};

const asNamed = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }));
const asSpoken = (names: readonly string[]) => names.map((name) => ({ value: name, label: spoken(name) }));

const options = {
  platform: asNamed(platforms),
  browser: asNamed(browsers),
  embedding: countedEmbeddings.map((value) => ({ value, label: words.embeddings[value] })),
  method: asSpoken(Object.keys(methods)),
};

const GRAPH_HEIGHT = 320;

/** Where users give up: the states of a type of flow, and what became of those who entered them. */
export function Funnel() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [value, change] = useSearchState();
  const { query, range, compared } = useFunnelQuery();
  const found = useQuery({
    ...trpc.getFunnel.queryOptions({ tenant, query }),
    placeholderData: keepPreviousData,
  });
  const before = useQuery({
    ...trpc.getFunnel.queryOptions(compared ? { tenant, query: compared.query } : skipToken),
    placeholderData: keepPreviousData,
  });
  const earlierAnswer = compared ? before.data : undefined;
  const failed = found.error ?? (compared ? before.error : null);
  const open = (state: string) => change({ state }, { keepsPage: true });
  return (
    <>
      <PageHead title={words.pages.funnel} sentence={words.funnel.sentence} />
      <Group gap="sm" align="flex-end">
        <RangeChoice offered={["24h", "7d", "30d"]} />
        <Select
          label={words.funnel.type}
          data={asSpoken(flowTypes)}
          value={value("type") || DEFAULT_TYPE}
          allowDeselect={false}
          onChange={(chosen) => change({ type: chosen === DEFAULT_TYPE ? "" : (chosen ?? "") })}
          w={{ base: "100%", sm: 150 }}
        />
        {(["platform", "browser", "embedding", "method"] as const).map((name) => (
          <OptionField
            key={name}
            name={name}
            label={words.funnel[name]}
            options={options[name]}
            all={words.funnel.all}
            width={150}
          />
        ))}
        <OptionField
          name="compare"
          label={words.funnel.compare}
          options={Object.entries(words.funnel.offsets).map(([hours, label]) => ({ value: hours, label }))}
          all={words.funnel.compareNone}
          width={170}
        />
      </Group>
      {failed ? (
        <Failure
          error={failed}
          retry={() => {
            void found.refetch();
            if (compared) void before.refetch();
          }}
        />
      ) : (
        <>
          <SimpleGrid cols={{ base: 1, lg: compared ? 2 : 1 }} spacing="sm">
            <Period
              title={words.funnel.now}
              range={range}
              funnel={found.data}
              isNarrow={compared !== null}
              onState={open}
            />
            {compared && (
              <Period
                title={words.funnel.earlier}
                range={compared.range}
                funnel={earlierAnswer}
                isNarrow
                onState={open}
              />
            )}
          </SimpleGrid>
          <FunnelTable found={found} before={earlierAnswer} onState={open} />
        </>
      )}
      <StateDrawer
        state={value("state") || null}
        funnel={found.data}
        onClose={() => change({ state: "" }, { keepsPage: true })}
      />
    </>
  );
}

function Period({
  title,
  range,
  funnel,
  isNarrow,
  onState,
}: {
  title: string;
  range: Range;
  funnel: FunnelAnswer | undefined;
  isNarrow: boolean;
  onState(state: string): void;
}) {
  const period = words.funnel.between(stepLabel(range.from, "hour"), stepLabel(range.to, "hour"));
  return (
    <Stack gap="xs" style={{ minWidth: 0 }}>
      <Box>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="sm" c="dimmed" suppressHydrationWarning>
          {period}
        </Text>
      </Box>
      {!funnel ? (
        <Skeleton height={GRAPH_HEIGHT} />
      ) : funnel.states.length === 0 ? (
        <Paper withBorder>
          <Empty title={words.funnel.empty} sentence={words.funnel.emptySentence} />
        </Paper>
      ) : (
        <StateGraph
          label={words.funnel.graph(period)}
          {...funnelGraph(funnel)}
          height={GRAPH_HEIGHT}
          isNarrow={isNarrow}
          onState={onState}
        />
      )}
      {funnel && funnel.full_hours > 0 && (
        <Alert color="orange">{words.funnel.full(funnel.full_hours)}</Alert>
      )}
    </Stack>
  );
}
