"use client";

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { refusalOf } from "../_api/step-up.ts";
import { words } from "../_words.ts";

/** The confirmation that a change takes which locks accounts of the console out: the empty list of those who must not be. */
interface Confirmation {
  unless_locked_out?: string[];
}

/** A change that is refused until it is confirmed. */
interface Waiting {
  message: string;
  settle(confirmed: boolean): void;
}

/**
 * Asks a second time before a change that locks accounts of the console out.
 *
 * @returns `guarded`: makes a change, and repeats it with the confirmation once its user has given it; `question`: to be drawn
 */
export function useLockOutQuestion() {
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  async function guarded<Result>(change: (confirmation: Confirmation) => Promise<Result>): Promise<Result> {
    try {
      return await change({});
    } catch (error) {
      if (refusalOf(error) !== "locks_out") throw error;
      const { message } = error as Error;
      const confirmed = await new Promise<boolean>((settle) => setWaiting({ message, settle }));
      setWaiting(null);
      if (!confirmed) throw error;
      return change({ unless_locked_out: [] });
    }
  }
  const question = (
    <Modal
      opened={waiting !== null}
      onClose={() => waiting?.settle(false)}
      title={words.lockOut.title}
      centered
    >
      <Stack>
        <Text size="sm">{waiting?.message}</Text>
        <Text size="sm">{words.lockOut.sentence}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => waiting?.settle(false)} data-autofocus>
            {words.cancel}
          </Button>
          <Button color="red" onClick={() => waiting?.settle(true)}>
            {words.lockOut.confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
  return { guarded, question };
}
