"use client";

import { Button, FileButton, Group, Paper, Stack, Text } from "@mantine/core";
import { IconFileImport } from "@tabler/icons-react";
import { type DragEvent, useState } from "react";
import { MAX_IMPORT_BYTES } from "#server/moving/import-bounds";
import { Sentence } from "../../../_parts/sentence.tsx";
import { words } from "../../../_words.ts";

const MAX_MIB = MAX_IMPORT_BYTES / 1_048_576;

/** Takes a file that is dropped or chosen; says why one is not taken. */
export function FileDrop({
  label,
  disabled,
  onFile,
}: {
  /** Of the button. */
  label: string;
  disabled: boolean;
  onFile(file: File): void;
}) {
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const take = (file: File | null | undefined) => {
    if (!file || disabled) return;
    const found = problemOf(file);
    setProblem(found);
    if (found === null) onFile(file);
  };
  const drag = (over: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setOver(over);
  };
  return (
    <Paper
      withBorder
      p="xl"
      style={{
        borderStyle: "dashed",
        ...(isOver ? { borderColor: "var(--mantine-primary-color-filled)" } : {}),
      }}
      onDragOver={drag(true)}
      onDragLeave={drag(false)}
      onDrop={(event) => {
        drag(false)(event);
        take(event.dataTransfer.files[0]);
      }}
    >
      <Stack align="center" gap="xs">
        <IconFileImport size={32} stroke={1.5} aria-hidden />
        <Text size="sm" fw={500} ta="center">
          {words.imports.drop}
        </Text>
        <Text size="sm" c="dimmed" ta="center">
          <Sentence text={words.imports.limit(MAX_MIB)} />
        </Text>
        <Group>
          <FileButton onChange={take} accept=".json,.jsonl,.ndjson,.csv,.txt" disabled={disabled}>
            {(props) => (
              <Button {...props} disabled={disabled}>
                {label}
              </Button>
            )}
          </FileButton>
        </Group>
        <Text size="sm" c="red" role="alert" ta="center">
          <Sentence text={problem ?? ""} />
        </Text>
      </Stack>
    </Paper>
  );
}

function problemOf({ size }: File): string | null {
  if (size === 0) return words.imports.emptyFile;
  return size > MAX_IMPORT_BYTES ? words.imports.tooLarge(MAX_MIB) : null;
}
