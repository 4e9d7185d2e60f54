"use client";

import { Paper, Progress, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { duration } from "../../../../_parts/duration.ts";
import { words } from "../../../../_words.ts";
import type { UserImport } from "../import-state.tsx";

const SECOND_MS = 1_000;

/** What the page has seen of an import first. */
interface Sample {
  records: number;
  at: number;
}

/**
 * How far the service is with a file.
 *
 * @param at when it said so, in milliseconds
 * @param isLost whether it has not answered since
 */
export function ImportProgress({
  of: { state, check, records, expected, imported, refused },
  at,
  isLost,
}: {
  of: UserImport;
  at: number;
  isLost: boolean;
}) {
  const [first, setFirst] = useState<Sample | null>(null);
  if (first === null && records !== null && !check) setFirst({ records, at });
  const left = timeLeft(first, { records: records ?? 0, at }, expected);
  const share = !check && expected !== null && expected > 0 ? (records ?? 0) / expected : null;
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Text size="sm" role="status">
          {state === "waiting"
            ? words.imports.waits
            : check
              ? words.imports.checking
              : words.imports.importing(records ?? 0, expected)}
        </Text>
        <Progress
          aria-label={words.imports.progress}
          size="lg"
          value={share === null ? 100 : 100 * share}
          striped={share === null}
          animated={!isLost}
          color={isLost ? "gray" : "indigo"}
        />
        <Text size="sm" c="dimmed" mih={22}>
          {check ? "" : words.imports.counts(imported, refused)}
          {left === null ? "" : ` · ${words.imports.left(duration(left))}`}
        </Text>
        <Text size="sm" role="alert" mih={22}>
          {isLost ? words.imports.lost : ""}
        </Text>
      </Stack>
    </Paper>
  );
}

/** The time that the rest takes at the pace so far, in milliseconds; null as long as none is known. */
function timeLeft(first: Sample | null, last: Sample, expected: number | null): number | null {
  if (first === null || expected === null || last.records <= first.records) return null;
  const pace = (last.at - first.at) / (last.records - first.records);
  return Math.max(SECOND_MS, Math.round((pace * (expected - last.records)) / SECOND_MS) * SECOND_MS);
}
