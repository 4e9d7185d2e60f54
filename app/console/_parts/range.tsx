"use client";

import { SegmentedControl } from "@mantine/core";
import dayjs from "dayjs";
import { words } from "../_words.ts";
import { TimeField } from "./filters.tsx";
import { useSearchState } from "./search-state.ts";
import { HOUR_MS } from "./time-steps.ts";

/** The range of time of counts, in the address: one of some lengths up to now, or from a time to another. */

/** Lengths in hours. */
const lengths = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24 } as const;

export type RangeName = keyof typeof lengths;

const CUSTOM = "custom";

/** A range of whole hours. */
export interface Range {
  from: string;
  to: string;
  hours: number;
}

const hoursFrom = (at: dayjs.Dayjs, hours: number) => at.add(hours, "hour").toISOString();

/** Reads the range of the address. Default: the last 24 hours. */
export function useRange(): Range {
  const [value] = useSearchState();
  const name = value("range");
  // The hour that is not over belongs to the range, and a range stays the same within an hour.
  const end = dayjs().startOf("hour").add(1, "hour");
  if (name !== CUSTOM) {
    const hours = lengths[name as RangeName] ?? lengths["24h"];
    return { from: hoursFrom(end, -hours), to: end.toISOString(), hours };
  }
  const to = value("to") ? dayjs(value("to")) : end;
  const from = value("from") ? dayjs(value("from")) : to.subtract(lengths["24h"], "hour");
  const hours = Math.max(1, Math.ceil(to.diff(from) / HOUR_MS));
  return { from: from.toISOString(), to: to.toISOString(), hours };
}

/** Moves a range back. */
export const earlier = ({ from, to, hours }: Range, by: number): Range => ({
  from: hoursFrom(dayjs(from), -by),
  to: hoursFrom(dayjs(to), -by),
  hours,
});

/** @param offered the lengths that the page can show */
export function RangeChoice({ offered }: { offered: readonly RangeName[] }) {
  const [value, change] = useSearchState();
  const range = useRange();
  const name = value("range") || "24h";
  return (
    <>
      <SegmentedControl
        aria-label={words.range.label}
        size="xs"
        data={[...offered, CUSTOM].map((one) => ({
          value: one,
          label: words.range.names[one as keyof typeof words.range.names],
        }))}
        value={name}
        onChange={(chosen) =>
          change(
            chosen === CUSTOM
              ? { range: CUSTOM, from: range.from, to: range.to }
              : { range: chosen === "24h" ? "" : chosen, from: "", to: "" },
          )
        }
      />
      {name === CUSTOM && (
        <>
          <TimeField name="from" label={words.range.from} />
          <TimeField name="to" label={words.range.to} />
        </>
      )}
    </>
  );
}
