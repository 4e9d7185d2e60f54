"use client";

import { SegmentedControl, Select } from "@mantine/core";
import { languageTags, type PageLanguage, pseudoTags } from "#words/language-tags";
import { words } from "../../_words.ts";
import { useSearchState } from "../search-state.ts";
import { type Screen, screens } from "./page-frame.tsx";

/** How a preview is seen: language, colour scheme and screen, in the address. */

const tags: readonly PageLanguage[] = [...languageTags, ...pseudoTags];
const names: Record<PageLanguage, string> = words.preview.languages;

export type Scheme = "light" | "dark";

export interface PreviewView {
  language: PageLanguage;
  scheme: Scheme;
  screen: Screen;
}

/** @param screen the one that is shown where the address names none */
export function usePreviewView(screen: Screen = "phone"): PreviewView {
  const [value] = useSearchState();
  const named = value("screen");
  return {
    language: tags.find((tag) => tag === value("language")) ?? "en",
    scheme: value("scheme") === "dark" ? "dark" : "light",
    screen: Object.hasOwn(screens, named) ? (named as Screen) : screen,
  };
}

export function LanguageChoice({ language }: { language: PageLanguage }) {
  const [, change] = useSearchState();
  return (
    <Select
      label={words.preview.language}
      data={tags.map((value) => ({ value, label: names[value] }))}
      value={language}
      allowDeselect={false}
      onChange={(chosen) => change({ language: chosen === "en" ? "" : (chosen ?? "") }, { replaces: true })}
      w={{ base: "100%", xs: 190 }}
    />
  );
}

export function SchemeChoice({ scheme }: { scheme: Scheme }) {
  const [, change] = useSearchState();
  return (
    <SegmentedControl
      size="xs"
      aria-label={words.preview.scheme}
      value={scheme}
      onChange={(chosen) => change({ scheme: chosen === "dark" ? "dark" : "" }, { replaces: true })}
      data={[
        { value: "light", label: words.preview.schemes.light },
        { value: "dark", label: words.preview.schemes.dark },
      ]}
    />
  );
}

export function ScreenChoice({ screen }: { screen: Screen }) {
  const [, change] = useSearchState();
  return (
    <SegmentedControl
      size="xs"
      aria-label={words.preview.screen}
      value={screen}
      onChange={(chosen) => change({ screen: chosen }, { replaces: true })}
      data={[
        { value: "phone", label: words.preview.screens.phone },
        { value: "desktop", label: words.preview.screens.desktop },
      ]}
    />
  );
}
