import { Box, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { Sentence } from "./sentence.tsx";

/** A part of a page, with its heading. */
export function Panel({
  title,
  sentence,
  action,
  children,
}: {
  title: string;
  sentence?: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2} flex="1 1 240px" style={{ minWidth: 0 }}>
            <Title order={2} size="h5" id={id}>
              {title}
            </Title>
            {sentence && (
              <Text size="sm" c="dimmed">
                <Sentence text={sentence} />
              </Text>
            )}
          </Stack>
          {action && <Box style={{ flexShrink: 0 }}>{action}</Box>}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
