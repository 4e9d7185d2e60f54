"use client";

import { Button, Group, Stack, TextInput } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import { Sentence } from "../../../../_parts/sentence.tsx";

/** A form of one text, with its button beside it. */
export function OneField({
  label,
  hint,
  button,
  value,
  onChange,
  type = "text",
  isPending,
  isUnchanged,
  isReadOnly = false,
  error,
  onSubmit,
  children,
}: {
  label: string;
  hint?: string;
  button: string;
  value: string;
  onChange(value: string): void;
  type?: string;
  isPending: boolean;
  isUnchanged: boolean;
  isReadOnly?: boolean;
  /** What the service said against the text. */
  error?: string | undefined;
  onSubmit(): void;
  /** What stands below the field. */
  children?: ReactNode;
}) {
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
      noValidate
    >
      <Stack gap="xs">
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label={label}
            description={hint}
            type={type}
            value={value}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
            disabled={isReadOnly}
            error={error && <Sentence text={error} />}
            autoComplete="off"
            flex={1}
          />
          {!isReadOnly && (
            <Button type="submit" variant="default" loading={isPending} disabled={isUnchanged}>
              {button}
            </Button>
          )}
        </Group>
        <Group justify="space-between" gap="xs">
          {children}
        </Group>
      </Stack>
    </form>
  );
}
