import { Center, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Sentence } from "../_parts/sentence.tsx";

/** A page that only tells something. */
export function Notice({
  title,
  sentence,
  children,
}: {
  title: string;
  sentence: string;
  /** What can be done. */
  children?: ReactNode;
}) {
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" radius="md" maw={480} w="100%">
        <Stack gap="md">
          <Title order={1} size="h3">
            {title}
          </Title>
          <Text>
            <Sentence text={sentence} />
          </Text>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
