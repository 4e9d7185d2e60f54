"use client";

import { Autocomplete, MultiSelect, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import dayjs from "dayjs";
import { useState } from "react";
import { words } from "../_words.ts";
import { DateTime } from "./date-time.tsx";
import { useSearchState } from "./search-state.ts";

/** Fields whose value is a member of the query of the address. */

const DEBOUNCE_MS = 300;

interface Field {
  /** The member of the query. */
  name: string;
  label: string;
  width?: number;
}

const widthOf = (width: number | undefined) => (width === undefined ? "100%" : { base: "100%", sm: width });

/** Of fields that are short: two stand beside each other on a phone. */
const shortWidthOf = (width: number | undefined) =>
  width === undefined ? "100%" : { base: "calc(50% - var(--mantine-spacing-sm) / 2)", sm: width };

/** A text that is searched for while it is typed. */
export function SearchField({
  name,
  label,
  width,
  placeholder,
  accept = (text) => text.trim(),
  hint,
}: Field & {
  placeholder?: string;
  /** Returns the value of a text; null if it is none yet, in which case the address stays as it is. */
  accept?(text: string): string | null;
  /** What is said of a text that is not accepted. */
  hint?: string;
}) {
  const [value, change] = useSearchState();
  const sought = value(name);
  const [typed, setTyped] = useState(sought);
  const [sent, setSent] = useState(sought);
  const [shown, setShown] = useState(sought);
  const accepted = typed.trim() === "" ? "" : accept(typed);
  const search = useDebouncedCallback((text: string) => {
    const next = text.trim() === "" ? "" : accept(text);
    if (next === null) return;
    setSent(next);
    change({ [name]: next }, { replaces: true });
  }, DEBOUNCE_MS);
  if (sought !== shown) {
    setShown(sought);
    // Filters were cleared, or the browser went back. The answer to what was typed must not undo what is typed since.
    if (sought !== sent) {
      setSent(sought);
      setTyped(sought);
    }
  }
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      type="search"
      leftSection={<IconSearch size={16} />}
      value={typed}
      error={accepted === null ? hint : undefined}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        search(currentTarget.value);
      }}
      w={widthOf(width)}
    />
  );
}

/** A text that is compared as a whole, with suggestions: it counts when it is chosen or left. */
export function ChoiceField({ name, label, width, suggestions }: Field & { suggestions: string[] }) {
  const [value, change] = useSearchState();
  const take = (text: string) => {
    if (text.trim() !== value(name)) change({ [name]: text.trim() });
  };
  return (
    <Autocomplete
      key={value(name)}
      label={label}
      placeholder={words.any}
      defaultValue={value(name)}
      data={suggestions}
      onOptionSubmit={take}
      onBlur={({ currentTarget }) => take(currentTarget.value)}
      onKeyDown={({ key, currentTarget }) => key === "Enter" && take(currentTarget.value)}
      clearable
      onClear={() => take("")}
      w={widthOf(width)}
    />
  );
}

/** One of some values, or all. */
export function OptionField({
  name,
  label,
  options,
  all,
  width = 190,
}: Field & {
  options: readonly { value: string; label: string }[];
  /** What stands where nothing is chosen. */
  all: string;
}) {
  const [value, change] = useSearchState();
  return (
    <Select
      label={label}
      placeholder={all}
      data={options}
      value={value(name) || null}
      onChange={(chosen) => change({ [name]: chosen ?? "" })}
      clearable
      searchable
      w={shortWidthOf(width)}
    />
  );
}

/** Any of some values, or all; the address has them separated by commas. */
export function OptionsField({
  name,
  label,
  options,
  width,
}: Field & { options: readonly (string | { value: string; label: string })[] }) {
  const [value, change] = useSearchState();
  const chosen = value(name).split(",").filter(Boolean);
  return (
    <MultiSelect
      label={label}
      placeholder={chosen.length === 0 ? words.any : undefined}
      data={options}
      value={chosen}
      onChange={(next) => change({ [name]: next.join(",") })}
      searchable
      clearable
      w={widthOf(width)}
    />
  );
}

/** The beginning and the end of the time that a list is of. */
export function TimeSpanFields() {
  return (
    <>
      <TimeField name="from" label={words.range.from} width={220} />
      <TimeField name="to" label={words.range.to} width={220} />
    </>
  );
}

/** A time of the zone of the viewer; the address has it in UTC. */
export function TimeField({ name, label, width }: Field) {
  const [value, change] = useSearchState();
  const at = dayjs(value(name) || null);
  return (
    <DateTime
      label={label}
      placeholder={words.any}
      value={at.isValid() ? at.format("YYYY-MM-DD HH:mm:ss") : null}
      onChange={(chosen) => change({ [name]: chosen ? dayjs(chosen).toISOString() : "" })}
      clearable
      w={widthOf(width)}
    />
  );
}
