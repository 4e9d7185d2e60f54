"use client";

import { Group, Paper, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from "@tabler/icons-react";
import { duration } from "../../../_parts/duration.ts";
import { words } from "../../../_words.ts";
import type { OverviewAnswer } from "./overview-answer.ts";

/** The numbers of a range, each with that of the time before. */
export function Figures({ overview: { current, previous, active_sessions } }: { overview: OverviewAnswer }) {
  const [time, before] = [current.time_to_sign_in, previous.time_to_sign_in];
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <Counted label={words.overview.sign_ins} now={current.sign_ins} before={previous.sign_ins} />
      <Counted label={words.overview.sign_ups} now={current.sign_ups} before={previous.sign_ups} />
      <Counted label={words.overview.failures} now={current.failures} before={previous.failures} isBad />
      <Figure
        label={words.overview.median}
        shown={duration(time.median_ms)}
        now={time.median_ms}
        before={before.median_ms}
        beforeShown={duration(before.median_ms)}
        isBad
      />
      <Figure
        label={words.overview.p95}
        shown={duration(time.p95_ms)}
        now={time.p95_ms}
        before={before.p95_ms}
        beforeShown={duration(before.p95_ms)}
        isBad
      />
      <Figure label={words.overview.sessions} shown={words.overview.bounded(active_sessions)} />
    </SimpleGrid>
  );
}

function Counted({
  label,
  now,
  before,
  isBad = false,
}: {
  label: string;
  now: number;
  before: number;
  isBad?: boolean;
}) {
  const text = (count: number) => count.toLocaleString("en");
  return (
    <Figure
      label={label}
      shown={text(now)}
      now={now}
      before={before}
      beforeShown={text(before)}
      isBad={isBad}
    />
  );
}

/**
 * A number, and by how much it differs from the time before.
 *
 * @param isBad whether more of it is worse
 */
function Figure({
  label,
  shown,
  now = null,
  before = null,
  beforeShown,
  isBad = false,
}: {
  label: string;
  shown: string;
  now?: number | null;
  before?: number | null;
  beforeShown?: string;
  isBad?: boolean;
}) {
  return (
    <Paper withBorder p="sm">
      <Stack gap={2}>
        <Text size="xs" c="dimmed">
          {label}
        </Text>
        <Text size="xl" fw={600} lh={1.2}>
          {shown}
        </Text>
        {beforeShown === undefined ? (
          <Text size="xs" c="dimmed">
            {words.overview.atPresent}
          </Text>
        ) : (
          <Difference now={now} before={before} shown={beforeShown} isBad={isBad} />
        )}
      </Stack>
    </Paper>
  );
}

/** Differences that are drawn as none, in parts of what was before. */
const NEGLIGIBLE = 0.01;

function Difference({
  now,
  before,
  shown,
  isBad,
}: {
  now: number | null;
  before: number | null;
  shown: string;
  isBad: boolean;
}) {
  if (now === null || before === null || before === 0)
    return (
      <Text size="xs" c="dimmed">
        {words.overview.before(shown)}
      </Text>
    );
  const change = (now - before) / before;
  const isSame = Math.abs(change) < NEGLIGIBLE;
  const Arrow = isSame ? IconArrowRight : change > 0 ? IconArrowUpRight : IconArrowDownRight;
  const colour = isSame ? "dimmed" : change > 0 === isBad ? "var(--stile-worse)" : "var(--stile-better)";
  return (
    <Group gap="0 4px">
      <Text
        size="xs"
        c={colour}
        span
        style={{ display: "inline-flex", alignItems: "center", gap: 2, whiteSpace: "nowrap" }}
      >
        <Arrow size={14} aria-hidden />
        {words.overview.change(change)}
      </Text>
      <Text size="xs" c="dimmed">
        {words.overview.before(shown)}
      </Text>
    </Group>
  );
}
