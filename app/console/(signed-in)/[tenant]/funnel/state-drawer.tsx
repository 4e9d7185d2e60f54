"use client";

import {
  Code,
  Drawer,
  Group,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Table,
  Text,
  Title,
} from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type StateName, stateNames } from "#server/flow/names";
import { type Dimension, dimensions } from "#server/funnel/measures";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { causeName, errorText, spoken } from "../../../_parts/protocol-name.ts";
import { partColours, StepChart } from "../../../_parts/step-chart.tsx";
import { stepLabel, type TimeStep, timeSteps } from "../../../_parts/time-steps.ts";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { type FunnelAnswer, useFunnelQuery } from "./funnel-query.ts";

type Series = AdminOperations["getFunnelSeries"]["answer"];

const measures = ["given_up", "entered", "left", "failed"] as const;

type Measure = (typeof measures)[number];

/** Of longer ranges, days are drawn by default. */
const HOURLY_UP_TO = 3 * 24;

/** What became of users in one state over time, and what failed there. */
export function StateDrawer({
  state,
  funnel,
  onClose,
}: {
  /** As the address names it; null or unknown: nothing is open. */
  state: string | null;
  funnel: FunnelAnswer | undefined;
  onClose(): void;
}) {
  const name = stateNames.find((one) => one === state);
  return (
    <Drawer
      opened={name !== undefined}
      onClose={onClose}
      position="right"
      size="xl"
      title={name && spoken(name)}
      closeButtonProps={{ "aria-label": words.close }}
    >
      {name && <StateDetails state={name} funnel={funnel} />}
    </Drawer>
  );
}

function StateDetails({ state, funnel }: { state: StateName; funnel: FunnelAnswer | undefined }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const { query, range } = useFunnelQuery();
  const [by, setBy] = useState<Dimension>("platform");
  const [measure, setMeasure] = useState<Measure>("given_up");
  const [step, setStep] = useState<TimeStep>(range.hours <= HOURLY_UP_TO ? "hour" : "day");
  const { data, error, refetch } = useQuery({
    ...trpc.getFunnelSeries.queryOptions({ tenant, query: { ...query, state, by, step } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Stack>
      <Group gap="sm" align="flex-end">
        <Select
          label={words.funnel.measure}
          data={measures.map((value) => ({ value, label: words.funnel.measures[value] }))}
          value={measure}
          allowDeselect={false}
          onChange={(chosen) => chosen && setMeasure(chosen as Measure)}
          w={150}
        />
        <Select
          label={words.funnel.by}
          data={dimensions.map((value) => ({ value, label: words.funnel.dimensions[value] }))}
          value={by}
          allowDeselect={false}
          onChange={(chosen) => chosen && setBy(chosen as Dimension)}
          w={150}
        />
        <SegmentedControl
          aria-label={words.overview.step}
          data={(["hour", "day"] as const).map((value) => ({ value, label: words.overview.steps[value] }))}
          value={step}
          onChange={(chosen) => setStep(chosen as TimeStep)}
        />
      </Group>
      <Stack gap="xs">
        <Title order={3} size="h5">
          {words.funnel.series}
        </Title>
        {data ? (
          <SeriesChart series={data} measure={measure} />
        ) : error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton height={260} />
        )}
      </Stack>
      <Errors state={state} funnel={funnel} />
    </Stack>
  );
}

function SeriesChart({ series: { points, from, to, step }, measure }: { series: Series; measure: Measure }) {
  const values = [...new Set(points.map(({ value }) => value))].toSorted();
  if (points.length === 0) return <Empty title={words.funnel.noPoints} />;
  const counts = new Map(points.map((point) => [`${Date.parse(point.at)} ${point.value}`, point[measure]]));
  return (
    <StepChart
      label={`${words.funnel.series}: ${words.funnel.measures[measure]}`}
      parts={values.map((name, index) => ({
        name,
        label: spoken(name),
        colour: partColours[index % partColours.length] ?? partColours[0],
      }))}
      bars={timeSteps({ from, to }, step).map((at) => ({
        label: stepLabel(at, step),
        counts: Object.fromEntries(
          values.map((name) => [name, counts.get(`${Date.parse(at)} ${name}`) ?? 0]),
        ),
      }))}
    />
  );
}

function Errors({ state, funnel }: { state: StateName; funnel: FunnelAnswer | undefined }) {
  const errors = funnel?.states.find((one) => one.state === state)?.errors ?? [];
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {words.funnel.errors}
      </Title>
      {errors.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.funnel.noErrors}
        </Text>
      ) : (
        <Table aria-label={words.funnel.errors} verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.funnel.error}</Table.Th>
              <Table.Th>{words.funnel.reason}</Table.Th>
              <Table.Th ta="end">{words.funnel.count}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {errors.map(({ error, reason, count }) => (
              <Table.Tr key={`${error} ${reason}`}>
                <Table.Td>
                  <Code>{error}</Code>
                  {errorText(error) !== null && <Text size="xs">{errorText(error)}</Text>}
                </Table.Td>
                <Table.Td>{causeName(reason)}</Table.Td>
                <Table.Td ta="end">{count.toLocaleString("en")}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
