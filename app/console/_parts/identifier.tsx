"use client";

import { ActionIcon, Anchor, Code, CopyButton, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import Link from "next/link";
import { words } from "../_words.ts";

const SHORTENED = 8;

/** Writes the beginning of an id. */
export const shortId = (id: string): string =>
  id.length > SHORTENED + 4 ? `${id.slice(0, SHORTENED)}…` : id;

/** An identifier that can be copied. */
export function Identifier({
  value,
  shortened = false,
  href,
}: {
  value: string;
  shortened?: boolean;
  /** The page of what it identifies. */
  href?: string;
}) {
  const code = (
    <Code
      title={value}
      // In a narrow place it is broken; a column of a table is as wide as it is.
      style={shortened ? { whiteSpace: "nowrap" } : { overflowWrap: "break-word", minWidth: 0 }}
      {...(href === undefined ? {} : { c: "inherit" })}
    >
      {shortened ? shortId(value) : value}
    </Code>
  );
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      {href === undefined ? (
        code
      ) : (
        <Anchor component={Link} href={href}>
          {code}
        </Anchor>
      )}
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
