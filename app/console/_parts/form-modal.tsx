"use client";

import { Button, Group, Modal, type ModalProps, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { words } from "../_words.ts";
import { ReturnedFocus } from "./focus.tsx";

/** A form in a window of its own. */
export function FormModal({
  title,
  opened,
  onClose,
  onSubmit,
  submit = words.save,
  loading,
  disabled = false,
  size = "md",
  children,
}: {
  title: string;
  opened: boolean;
  onClose(): void;
  onSubmit(): void;
  /** The label of the button. */
  submit?: string;
  loading: boolean;
  disabled?: boolean;
  size?: ModalProps["size"];
  children: ReactNode;
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} size={size} centered>
      <ReturnedFocus />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <Stack>
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {words.cancel}
            </Button>
            <Button type="submit" loading={loading} disabled={disabled}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
