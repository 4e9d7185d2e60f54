"use client";

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { type UseMutationOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type ReactNode, useRef, useState } from "react";
import { refusalOf } from "../_api/step-up.ts";
import { words } from "../_words.ts";
import { type Answered, errorSentence, inputErrorOf } from "./answers.tsx";
import { ReturnedFocus, returnFocus } from "./focus.tsx";
import { allRead, useLeaves } from "./left-page.ts";

/** Changes: what becomes of them, and the question before those that cannot be undone. */

/**
 * A mutation that tells its outcome and reads everything shown again.
 *
 * @param options of a procedure: `trpc.blockUser.mutationOptions()`
 * @param said after success; none for a change whose effect is plainly seen
 * @param then `undo` makes the opposite change, which is then offered beside what is said. `leadsTo`: the page that follows
 *   the deletion of what this one is about, which is then not read again. `atField`: the form shows what the service said
 *   against what was entered (`inputErrorOf`)
 */
export function useChange<Input, Output, Failed extends Answered, Context>(
  options: UseMutationOptions<Output, Failed, Input, Context>,
  said?: string,
  {
    undo,
    leadsTo,
    atField = false,
  }: {
    undo?: ((made: Input) => Promise<unknown>) | undefined;
    leadsTo?: string;
    atField?: boolean;
  } = {},
) {
  const queries = useQueryClient();
  const router = useRouter();
  const leaves = useLeaves();
  const pressed = useRef<Element | null>(null);
  return useMutation<Output, Failed, Input, Context>({
    ...options,
    ...(leadsTo === undefined ? {} : { mutationKey: leaves }),
    async onMutate(...given) {
      pressed.current = document.activeElement;
      if (leadsTo !== undefined) await allRead(queries);
      return options.onMutate?.(...given) as Context;
    },
    onSettled(...given) {
      // A button that shows the progress is disabled meanwhile.
      returnFocus(pressed.current);
      return options.onSettled?.(...given);
    },
    async onSuccess(...given) {
      await options.onSuccess?.(...given);
      if (said) tell(said, undo && (() => undo(given[1])));
      if (leadsTo !== undefined) router.push(leadsTo);
      await queries.invalidateQueries({ refetchType: leadsTo === undefined ? "active" : "none" });
    },
    onError(error, ...given) {
      // They are asked about, and shown, where the change is made.
      const reason = refusalOf(error);
      const isShown = atField && inputErrorOf(error) !== undefined;
      if (reason !== "locks_out" && reason !== "changed_since" && !isShown)
        notifications.show({ message: errorSentence(error), color: "red", autoClose: 10_000 });
      return options.onError?.(error, ...given);
    },
  });
}

/** Says what became of a change, with a button that undoes it. */
function tell(said: string, undo?: () => Promise<unknown>): void {
  if (!undo) {
    notifications.show({ message: said, color: "teal" });
    return;
  }
  const id = notifications.show({
    color: "teal",
    autoClose: 10_000,
    message: (
      <Group justify="space-between" wrap="nowrap">
        {said}
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => {
            notifications.hide(id);
            // What fails is told by the change that undoes.
            undo().catch(() => {});
          }}
        >
          {words.undo}
        </Button>
      </Group>
    ),
  });
}

/** A button that asks before it does what cannot be undone. */
export function ConfirmedButton({
  label,
  title,
  children,
  confirm = label,
  dismiss = words.cancel,
  onConfirm,
  loading = false,
  disabled = false,
  typed,
  about,
  compact = false,
  color = "red",
  primary = false,
}: {
  label: string;
  /** What has to be typed before: the name of what will go. */
  typed?: string;
  /** What it is about, where several buttons have the same label. */
  about?: string;
  /** For rows of lists. */
  compact?: boolean;
  /** Red for what takes something away. */
  color?: string;
  /** Whether it is what the page is for. */
  primary?: boolean;
  /** The question. */
  title: string;
  /** What will happen. */
  children: ReactNode;
  confirm?: string;
  /** The label of the way back, where “Cancel” is what is asked about. */
  dismiss?: string;
  onConfirm(): Promise<unknown>;
  loading?: boolean;
  disabled?: boolean;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [text, setText] = useState("");
  return (
    <>
      <Button
        variant={primary ? "filled" : "light"}
        color={color}
        size={compact ? "compact-sm" : "sm"}
        onClick={() => {
          setText("");
          open();
        }}
        disabled={disabled}
        aria-label={about === undefined ? undefined : `${label} ${about}`}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} centered>
        <ReturnedFocus />
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed !== undefined && (
            <TextInput
              label={words.typeToConfirm(typed)}
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus={typed === undefined || undefined}>
              {dismiss}
            </Button>
            <Button
              color={color}
              loading={loading}
              disabled={typed !== undefined && text !== typed}
              onClick={() => void onConfirm().then(close, () => {})}
            >
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
