"use client";

import { Skeleton, Stack, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { isPseudoTag, type PageLanguage } from "#words/language-tags";
import { MAX_TEXT_CHARACTERS } from "#words/with-texts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { SearchField } from "../../../_parts/filters.tsx";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

/** Texts that are shown at once; a longer word finds the others. */
const MAX_SHOWN = 30;

/** The texts of one language that replace ours, by path. */
export type OwnTexts = Readonly<Record<string, string>>;

/** The texts of pages, mails and SMS in a language, each with ours beside it. */
export function WordsFields({
  language,
  state,
  markup,
  own,
  faultOf,
  disabled,
  onChange,
}: {
  language: PageLanguage;
  /** The shown state; null for another page. */
  state: string | null;
  /** Of the shown picture, whose texts come first. */
  markup: string;
  own: OwnTexts;
  faultOf(path: string): string | undefined;
  disabled: boolean;
  /** @param text null for ours */
  onChange(path: string, text: string | null): void;
}) {
  const tenant = useTenant();
  const [value] = useSearchState();
  const isTest = isPseudoTag(language);
  const { data, error, refetch } = useQuery({
    ...useTRPC().listTexts.queryOptions({ tenant, query: isTest ? {} : { language } }),
    enabled: !isTest,
  });
  const q = value("words").trim().toLowerCase();
  const found = useMemo(() => {
    if (!data) return [];
    if (q)
      return data.filter(({ path, text }) =>
        [path, text, own[path] ?? ""].some((part) => part.toLowerCase().includes(q)),
      );
    const isShown = textsIn(markup);
    // A text that was changed stays, also while it fits no more.
    return data.filter(
      ({ path, text }) =>
        path in own || (isOfPicture(path, state) && (isShown(text) || isShown(own[path] ?? text))),
    );
  }, [data, q, state, markup, own]);
  if (isTest) return <Empty title={words.nothingFound} sentence={words.look.testLanguage} />;
  const shown = found.slice(0, MAX_SHOWN);
  return (
    <Stack>
      <SearchField name="words" label={words.look.searchWords} />
      <Text size="sm" c="dimmed" role="status">
        {q ? words.look.found(found.length, shown.length) : words.look.inPicture}
      </Text>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton height={400} />}
      {data && shown.length === 0 && (
        <Empty title={words.look.noWords} sentence={words.look.noWordsSentence} />
      )}
      {shown.map(({ path, text }) => (
        <Textarea
          key={path}
          label={path}
          description={text}
          error={faultOf(path)}
          lang={language}
          disabled={disabled}
          placeholder={words.settingField.default}
          autosize
          maxRows={4}
          maxLength={MAX_TEXT_CHARACTERS}
          styles={{ label: { overflowWrap: "anywhere" }, description: { overflowWrap: "anywhere" } }}
          value={own[path] ?? ""}
          onChange={({ currentTarget }) =>
            onChange(path, currentTarget.value === "" ? null : currentTarget.value)
          }
          // A text has one line.
          onKeyDown={(event) => {
            if (event.key === "Enter") event.preventDefault();
          }}
        />
      ))}
    </Stack>
  );
}

/** Whether a text may stand in a picture: many states have the same text, and mails and SMS are no pictures. */
const isOfPicture = (path: string, state: string | null) =>
  !/^(states|mail|sms)\./.test(path) || path.startsWith(`states.${state}.`);

/** Returns whether a text, whose placeholders may be filled in, stands in a picture. */
function textsIn(markup: string): (text: string) => boolean {
  const { body } = new DOMParser().parseFromString(markup, "text/html");
  const said = new Set<string>();
  for (const element of body.querySelectorAll("*")) {
    for (const name of ["aria-label", "placeholder", "title", "alt"])
      said.add(element.getAttribute(name) ?? "");
    for (const child of element.childNodes)
      if (child.nodeType === Node.TEXT_NODE) said.add(child.textContent ?? "");
    said.add(element.textContent ?? "");
  }
  const all = [...said];
  return (text) => {
    if (said.has(text)) return true;
    const [first = "", ...others] = text.split(/\{[^{}]*\}/);
    if (others.length === 0 || first.length + others.join("").length < 4) return false;
    const parts = [first, ...others];
    return all.some(
      (one) =>
        one.startsWith(first) &&
        one.endsWith(parts.at(-1) ?? "") &&
        parts.every((part) => one.includes(part)),
    );
  };
}
