"use client";

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { type UseMutationOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { words } from "../_words.ts";

/** Changes: what becomes of them, and the question before those that cannot be undone. */

/**
 * A mutation that tells its outcome and reads everything shown again.
 *
 * @param options of a procedure: `trpc.blockUser.mutationOptions()`
 * @param said after success; none for a change whose effect is plainly seen
 */
export function useChange<Input, Output, Failed extends { message: string }, Context>(
  options: UseMutationOptions<Output, Failed, Input, Context>,
  said?: string,
) {
  const queries = useQueryClient();
  return useMutation<Output, Failed, Input, Context>({
    ...options,
    async onSuccess(...given) {
      await options.onSuccess?.(...given);
      if (said) notifications.show({ message: said, color: "teal" });
      await queries.invalidateQueries();
    },
    onError(error, ...given) {
      notifications.show({ message: error.message, color: "red", autoClose: 10_000 });
      return options.onError?.(error, ...given);
    },
  });
}

/** A button that asks before it does what cannot be undone. */
export function ConfirmedButton({
  label,
  title,
  children,
  confirm = label,
  onConfirm,
  loading = false,
  disabled = false,
}: {
  label: string;
  /** The question. */
  title: string;
  /** What will happen. */
  children: ReactNode;
  confirm?: string;
  onConfirm(): Promise<unknown>;
  loading?: boolean;
  disabled?: boolean;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="light" color="red" onClick={open} disabled={disabled}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} centered>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {words.cancel}
            </Button>
            <Button color="red" loading={loading} onClick={() => void onConfirm().then(close, () => {})}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
