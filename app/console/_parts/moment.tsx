"use client";

import { Text, Tooltip } from "@mantine/core";
import dayjs from "dayjs";
import relativeTime from "dayjs/plugin/relativeTime";
import { words } from "../_words.ts";
import { exactTime } from "./written-time.ts";

dayjs.extend(relativeTime);

/** How long ago a time is, or how far ahead. */
const relativeTimeOf = (moment: string): string => dayjs(moment).fromNow();

/** A time as it is said, with the exact one beside it for pointers and screen readers. */
export function Moment({
  at,
  fallback = words.never,
  size = "sm",
}: {
  at: string | null | undefined;
  fallback?: string;
  size?: "xs" | "sm";
}) {
  if (!at)
    return (
      <Text span size={size} c="dimmed">
        {fallback}
      </Text>
    );
  return (
    <Tooltip label={exactTime(new Date(at))}>
      <Text span size={size} style={{ whiteSpace: "nowrap" }} suppressHydrationWarning>
        <time dateTime={at} title={exactTime(new Date(at))}>
          {relativeTimeOf(at)}
        </time>
      </Text>
    </Tooltip>
  );
}
