"use client";

import { DateTimePicker, type DateTimePickerProps } from "@mantine/dates";
import { IconCalendar } from "@tabler/icons-react";
import dayjs from "dayjs";
import { words } from "../_words.ts";
import { writtenTime } from "./written-time.ts";

type Shared = "value" | "onChange" | "placeholder" | "clearable" | "required" | "w";

/** Its field is a button, which would grow with a second line. */
const oneLine = {
  input: { whiteSpace: "nowrap", overflow: "hidden", textOverflow: "ellipsis" },
} as const;

/** A field of a time of the zone of the viewer. */
export function DateTime({ label, ...picker }: Pick<DateTimePickerProps, Shared> & { label: string }) {
  return (
    <DateTimePicker
      {...picker}
      label={label}
      valueFormat={(at) => writtenTime(dayjs(at).toDate())}
      styles={oneLine}
      leftSection={<IconCalendar size={16} />}
      leftSectionPointerEvents="none"
      // The colours of the library for days that are unlike others do not meet WCAG 2.2, 1.4.3.
      weekendDays={[]}
      hideOutsideDates
      ariaLabels={words.calendar}
      clearButtonProps={{ "aria-label": `${words.clear} ${label}` }}
      submitButtonProps={{ "aria-label": words.calendar.take }}
      // Its field has no text to name the window by.
      popoverProps={{ attributes: { dropdown: { "aria-labelledby": undefined, "aria-label": label } } }}
    />
  );
}
