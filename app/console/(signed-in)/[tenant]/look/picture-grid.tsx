"use client";

import { Group, Paper, SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { useMemo } from "react";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { PageFrame, type Screen } from "../../../_parts/preview/page-frame.tsx";
import { usePagePreviews } from "../../../_parts/preview/use-page-previews.ts";
import { spoken } from "../../../_parts/protocol-name.ts";
import { words } from "../../../_words.ts";
import { type Drawn, displayedOf } from "./displayed.ts";

/** Pictures that one call draws: neighbours, which come into view together. */
const CHUNK = 12;

/** How far beyond its edge the page draws, so that little is empty when it is scrolled. */
const MARGIN = "400px";

/** Many pictures at once. Each is drawn when it comes into view, and given up when it leaves it. */
export function PictureGrid({
  names,
  drawn,
  screen,
  onOpen,
}: {
  names: readonly string[];
  drawn: Drawn;
  screen: Screen;
  onOpen(name: string): void;
}) {
  if (names.length === 0) return <Empty title={words.nothingFound} sentence={words.look.noState} />;
  const columns = screen === "phone" ? { base: 2, sm: 3, lg: 4, xl: 6 } : { base: 1, sm: 2, xl: 3 };
  return (
    <SimpleGrid cols={columns} spacing="sm" verticalSpacing="sm">
      {names.map((name, index) => {
        const first = Math.floor(index / CHUNK) * CHUNK;
        return (
          <Cell
            key={name}
            name={name}
            neighbours={names.slice(first, first + CHUNK)}
            drawn={drawn}
            screen={screen}
            onOpen={onOpen}
          />
        );
      })}
    </SimpleGrid>
  );
}

function Cell({
  name,
  neighbours,
  drawn,
  screen,
  onOpen,
}: {
  name: string;
  neighbours: readonly string[];
  drawn: Drawn;
  screen: Screen;
  onOpen(name: string): void;
}) {
  const { ref, entry } = useIntersection({ rootMargin: MARGIN });
  const isInView = entry?.isIntersecting ?? false;
  const { language, texts } = drawn;
  const { previews, error } = usePagePreviews(
    { language, pictures: [...neighbours], ...(texts ? { config: texts } : {}) },
    { enabled: isInView },
  );
  const markup = previews?.pictures.find((picture) => picture.name === name)?.markup;
  const displayed = useMemo(
    () => (markup === undefined ? null : displayedOf(drawn, markup, { still: true })),
    [drawn, markup],
  );
  return (
    <Paper ref={ref} withBorder p="xs" className="picture-cell">
      <Group gap={4} wrap="nowrap" mb={6}>
        <UnstyledButton
          className="picture-open"
          onClick={() => onOpen(name)}
          aria-label={words.look.open(spoken(name))}
          style={{ minWidth: 0 }}
        >
          <Text size="xs" fw={500} truncate>
            {spoken(name)}
          </Text>
        </UnstyledButton>
      </Group>
      <PageFrame
        label={words.look.frame(spoken(name))}
        displayed={displayed}
        screen={screen}
        isShown={isInView && !(error && !displayed)}
      />
      {error && !previews && <Failure error={error} />}
    </Paper>
  );
}
