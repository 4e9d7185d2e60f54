"use client";

import {
  Alert,
  Anchor,
  Group,
  List,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Text,
  Title,
} from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import dayjs from "dayjs";
import Link from "next/link";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { spoken } from "../../../_parts/protocol-name.ts";
import { earlier, type Range, RangeChoice, useRange } from "../../../_parts/range.tsx";
import { useSearchState } from "../../../_parts/search-state.ts";
import { Sentence } from "../../../_parts/sentence.tsx";
import { type ChartPart, partColours, StepChart } from "../../../_parts/step-chart.tsx";
import { HOUR_MS, stepLabel, type TimeStep, timeSteps } from "../../../_parts/time-steps.ts";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { Figures } from "./figures.tsx";
import { Health } from "./health.tsx";
import { COMPARED_DAYS, type OddHour, oddHours } from "./odd-hours.ts";
import type { OverviewAnswer } from "./overview-answer.ts";
import { Tally } from "./tally.tsx";

type CountedStep = OverviewAnswer["current"]["steps"][number];

const REFRESH_MS = 60_000;

/** The service answers at most so many hours. */
const MAX_HOURS = 14 * 24;

/** Of longer ranges, days are drawn by default. */
const HOURLY_UP_TO = 3 * 24;

const COMPARED_HOURS = COMPARED_DAYS * 24;

const SHOWN_ODD_HOURS = 4;

/** How the service is: what was counted in a range of time, beside the time before. */
export function Overview() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [value, change] = useSearchState();
  const range = useRange();
  const step = stepOf(value("step"), range);
  const asked = { from: range.from, to: range.to };
  const found = useQuery({
    ...trpc.getOverview.queryOptions({ tenant, query: { ...asked, step } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const odd = useOddHours(found.data, range, step);
  return (
    <>
      <PageHead title={words.pages.overview} sentence={words.overview.sentence} />
      <Group gap="sm" align="flex-end">
        <RangeChoice offered={["24h", "7d", "30d", "90d"]} />
        <SegmentedControl
          aria-label={words.overview.step}
          size="xs"
          data={[
            { value: "hour", label: words.overview.steps.hour, disabled: range.hours > MAX_HOURS },
            { value: "day", label: words.overview.steps.day },
          ]}
          value={step}
          onChange={(chosen) => change({ step: chosen })}
        />
      </Group>
      {found.data ? (
        <Shown overview={found.data} odd={odd} />
      ) : found.error ? (
        <Failure error={found.error} retry={() => void found.refetch()} />
      ) : (
        <>
          <Skeleton height={92} />
          <Skeleton height={340} />
          <Skeleton height={220} />
        </>
      )}
    </>
  );
}

function stepOf(asked: string, { hours }: Range): TimeStep {
  if (hours > MAX_HOURS) return "day";
  if (asked === "hour" || asked === "day") return asked;
  return hours <= HOURLY_UP_TO ? "hour" : "day";
}

/** Finds the odd hours of a range. The days before a short one are asked for beside it. */
function useOddHours(overview: OverviewAnswer | undefined, range: Range, step: TimeStep): OddHour[] {
  const tenant = useTenant();
  const trpc = useTRPC();
  const isShort = range.hours < COMPARED_HOURS;
  const { from } = earlier(range, COMPARED_HOURS);
  const { data: compared } = useQuery({
    ...trpc.getOverview.queryOptions({ tenant, query: { from, to: range.to, step: "hour" } }),
    enabled: step === "hour" && isShort,
    refetchInterval: REFRESH_MS,
  });
  if (step !== "hour" || !overview || overview.step !== "hour") return [];
  const counted = isShort ? compared?.current.steps : [...overview.previous.steps, ...overview.current.steps];
  return counted ? oddHours(counted, overview.current, new Date()) : [];
}

function Shown({ overview, odd }: { overview: OverviewAnswer; odd: OddHour[] }) {
  const { current, previous } = overview;
  const isUnused = [current, previous].every(
    ({ sign_ins, sign_ups, failures }) => sign_ins + sign_ups + failures === 0,
  );
  return (
    <>
      <OddHours odd={odd} />
      <Figures overview={overview} />
      {isUnused ? (
        <Paper withBorder>
          <Empty title={words.overview.empty} sentence={words.overview.emptySentence}>
            <List type="ordered" size="sm" spacing={4} mt="xs">
              {words.overview.beginnings.map((sentence) => (
                <List.Item key={sentence}>
                  <Sentence text={sentence} />
                </List.Item>
              ))}
            </List>
          </Empty>
        </Paper>
      ) : (
        <SignInChart overview={overview} odd={odd} />
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <Tally
          title={words.overview.causes}
          none={words.overview.noFailures}
          now={current.failures_by_cause}
          before={previous.failures_by_cause}
        />
        <Tally
          title={words.overview.limits}
          none={words.overview.noLimits}
          now={current.limits}
          before={previous.limits}
        />
      </SimpleGrid>
      <Health overview={overview} />
    </>
  );
}

function OddHours({ odd }: { odd: OddHour[] }) {
  const pathOf = usePagePath();
  const may = useMay();
  if (odd.length === 0) return null;
  const hrefOf = (at: string) =>
    `${pathOf("audit-log")}?${new URLSearchParams({ from: at, to: dayjs(Date.parse(at) + HOUR_MS).toISOString() })}`;
  return (
    <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={words.overview.odd}>
      <List size="sm" spacing={2} listStyleType="none">
        {odd.slice(-SHOWN_ODD_HOURS).map(({ at, measure, count, usual }) => {
          const text = words.overview.oddHour(
            stepLabel(at, "hour"),
            words.overview.measures[measure],
            count,
            Math.round(usual),
          );
          return (
            <List.Item key={`${at} ${measure}`}>
              {may("listAuditLogs") ? (
                <Anchor
                  component={Link}
                  size="sm"
                  c="var(--mantine-color-text)"
                  underline="always"
                  href={hrefOf(at)}
                >
                  {text}
                </Anchor>
              ) : (
                text
              )}
            </List.Item>
          );
        })}
      </List>
      {odd.length > SHOWN_ODD_HOURS && (
        <Text size="sm">{words.overview.more(odd.length - SHOWN_ODD_HOURS)}</Text>
      )}
    </Alert>
  );
}

/** What the bars are made of. */
const divisions = {
  outcome: null,
  sign_ins: "sign_ins",
  sign_ups: "sign_ups",
  failures: "failures",
} as const;

type Division = keyof typeof divisions;

const outcomeParts: ChartPart[] = [
  { name: "sign_ins", label: words.overview.sign_ins, colour: "teal.6" },
  { name: "sign_ups", label: words.overview.sign_ups, colour: "indigo.5" },
  { name: "failures", label: words.overview.failures, colour: "red.6" },
];

function SignInChart({ overview: { current, step }, odd }: { overview: OverviewAnswer; odd: OddHour[] }) {
  const [value, change] = useSearchState();
  const division: Division = value("by") in divisions ? (value("by") as Division) : "outcome";
  const member = divisions[division];
  const counted = new Map(current.steps.map((one) => [Date.parse(one.at), one]));
  const parts = member === null ? outcomeParts : methodParts(current.steps, member);
  const oddOnes = new Set(odd.map(({ at }) => at));
  const bars = timeSteps(current, step).map((at) => {
    const found = counted.get(Date.parse(at));
    return {
      label: stepLabel(at, step),
      isOdd: oddOnes.has(at),
      counts: Object.fromEntries(
        parts.map(({ name }) => [
          name,
          member === null ? (found?.[name as "sign_ins"] ?? 0) : (found?.methods[name]?.[member] ?? 0),
        ]),
      ),
    };
  });
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h4">
          {words.overview.chart}
        </Title>
        <SegmentedControl
          aria-label={words.overview.division}
          size="xs"
          data={Object.keys(divisions).map((name) => ({
            value: name,
            label: words.overview.divisions[name as Division],
          }))}
          value={division}
          onChange={(chosen) => change({ by: chosen === "outcome" ? "" : chosen })}
        />
      </Group>
      <StepChart
        label={`${words.overview.chart}: ${words.overview.divisions[division]}`}
        parts={parts}
        bars={bars}
      />
    </Paper>
  );
}

/** The methods that were counted, those that were used most first. */
function methodParts(
  steps: readonly CountedStep[],
  member: Exclude<(typeof divisions)[Division], null>,
): ChartPart[] {
  const totals = new Map<string, number>();
  for (const { methods } of steps)
    for (const [name, counts] of Object.entries(methods))
      totals.set(name, (totals.get(name) ?? 0) + counts[member]);
  return [...totals]
    .filter(([, total]) => total > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name], index) => ({
      name,
      label: words.methods[name as keyof typeof words.methods] ?? spoken(name),
      colour: partColours[index % partColours.length] ?? partColours[0],
    }));
}
