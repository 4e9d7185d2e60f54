"use client";

import { ActionIcon, Code, CopyButton, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { words } from "../_words.ts";

/** An identifier that can be copied. */
export function Identifier({ value, shortened = false }: { value: string; shortened?: boolean }) {
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      <Code
        title={value}
        // In a narrow place it is broken; a column of a table is as wide as it is.
        style={shortened ? { whiteSpace: "nowrap" } : { overflowWrap: "break-word", minWidth: 0 }}
      >
        {shortened && value.length > 12 ? `${value.slice(0, 8)}…` : value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? words.copied : words.copy}>
            <ActionIcon
              variant="subtle"
              color={copied ? "teal" : "gray"}
              size="sm"
              onClick={(event) => {
                event.stopPropagation();
                copy();
              }}
              aria-label={`${words.copy} ${value}`}
            >
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}
