import { Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Sentence } from "./sentence.tsx";

/** The heading of a page, what it is about, and its main actions. */
export function PageHead({
  title,
  sentence,
  children,
}: {
  title: ReactNode;
  sentence?: ReactNode;
  /** Actions. */
  children?: ReactNode;
}) {
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <Stack gap={2} style={{ minWidth: 0 }}>
        <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
          {title}
        </Title>
        {sentence && (
          <Text size="sm" c="dimmed" component="div">
            {typeof sentence === "string" ? <Sentence text={sentence} /> : sentence}
          </Text>
        )}
      </Stack>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
