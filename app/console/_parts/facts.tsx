import { Box, Paper, SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Facts of one thing by name: what it is, and the addresses to copy. */
export function Facts({
  facts,
  columns = 3,
}: {
  facts: readonly (readonly [label: string, value: ReactNode])[];
  columns?: number;
}) {
  return (
    <Paper withBorder p="md">
      <SimpleGrid component="dl" cols={{ base: 1, sm: Math.min(2, columns), md: columns }} m={0}>
        {facts.map(([label, value]) => (
          <Box key={label} style={{ minWidth: 0 }}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text component="dd" size="sm" m={0} mt={4} style={{ overflowWrap: "anywhere" }}>
              {value}
            </Text>
          </Box>
        ))}
      </SimpleGrid>
    </Paper>
  );
}
