"use client";

import { BarChart } from "@mantine/charts";
import { Box, Stack, Table, Text } from "@mantine/core";
import { words } from "../_words.ts";

const TABLE_HEIGHT = 320;

/** Writes 12,500 as "12.5K", which has room beside the axis. */
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

/** One part of each bar. */
export interface ChartPart {
  name: string;
  label: string;
  colour: string;
}

/** A bar: its label, and its parts by their names. */
export interface ChartBar {
  label: string;
  counts: Readonly<Record<string, number>>;
  /** Whether it is marked. */
  isOdd?: boolean;
}

/** Colours of parts that have none of their own, told apart in both schemes. */
export const partColours = [
  "indigo.6",
  "teal.6",
  "orange.6",
  "grape.6",
  "cyan.6",
  "lime.7",
  "pink.6",
  "yellow.7",
  "gray.6",
] as const;

/**
 * Counts by steps of time as stacked bars. The same numbers are in a table below, which can be opened.
 *
 * @param label what is drawn
 */
export function StepChart({
  label,
  parts,
  bars,
  height = 260,
}: {
  label: string;
  parts: readonly ChartPart[];
  bars: readonly ChartBar[];
  height?: number;
}) {
  const counted = bars.filter(({ counts }) => parts.some(({ name }) => (counts[name] ?? 0) > 0));
  return (
    <Stack gap="xs">
      {/* A hidden tooltip stays where it was last, which may be outside of a narrower window. */}
      <div role="img" aria-label={label} style={{ overflow: "clip" }}>
        <BarChart
          h={height}
          type="stacked"
          data={bars.map((bar) => ({ label: bar.label, ...bar.counts }))}
          dataKey="label"
          series={parts.map(({ name, label: text, colour }) => ({ name, label: text, color: colour }))}
          withLegend
          legendProps={{ verticalAlign: "bottom" }}
          referenceLines={bars
            .filter(({ isOdd }) => isOdd)
            .map((bar) => ({ x: bar.label, color: "red.6", label: "!", labelPosition: "insideTop" }))}
          xAxisProps={{ minTickGap: 24 }}
          yAxisProps={{
            allowDecimals: false,
            width: 60,
            tickFormatter: (count: number) => compact.format(count),
          }}
          accessibilityLayer={false}
          barProps={{ isAnimationActive: false }}
        />
      </div>
      <details>
        <Text component="summary" size="xs" c="dimmed" style={{ cursor: "pointer" }}>
          {words.chart.asTable}
        </Text>
        <Box mah={TABLE_HEIGHT} tabIndex={0} style={{ overflow: "auto" }}>
          <Table aria-label={label} verticalSpacing={4} fz="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.chart.time}</Table.Th>
                {parts.map(({ name, label: text }) => (
                  <Table.Th key={name}>{text}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {counted.map((bar) => (
                <Table.Tr key={bar.label}>
                  <Table.Td>
                    {bar.label}
                    {bar.isOdd ? ` ${words.chart.odd}` : ""}
                  </Table.Td>
                  {parts.map(({ name }) => (
                    <Table.Td key={name}>{(bar.counts[name] ?? 0).toLocaleString("en")}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      </details>
    </Stack>
  );
}
