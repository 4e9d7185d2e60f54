"use client";

import { Alert, Button, CopyButton, Group, Modal, Stack, TextInput } from "@mantine/core";
import { IconCheck, IconCopy, IconKey } from "@tabler/icons-react";
import { words } from "../_words.ts";
import { ReturnedFocus } from "./focus.tsx";

/** A secret that the service tells once. It closes by its button alone, so that no stray click loses it. */
export function ShownOnce({
  title,
  label,
  value,
  onClose,
}: {
  title: string;
  label: string;
  /** Null: there is none. */
  value: string | null;
  onClose(): void;
}) {
  return (
    <Modal
      opened={value !== null}
      onClose={onClose}
      title={title}
      centered
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <ReturnedFocus />
      <Stack>
        <Alert color="yellow" icon={<IconKey size={18} />}>
          {words.shownOnce.sentence}
        </Alert>
        <TextInput
          label={label}
          value={value ?? ""}
          readOnly
          onFocus={({ currentTarget }) => currentTarget.select()}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
        <Group justify="flex-end">
          <CopyButton value={value ?? ""}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
                onClick={copy}
                data-autofocus
              >
                {copied ? words.copied : words.copy}
              </Button>
            )}
          </CopyButton>
          <Button onClick={onClose}>{words.shownOnce.done}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
