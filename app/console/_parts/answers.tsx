"use client";

import { Alert, Button, Center, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconAlertTriangle, IconInbox } from "@tabler/icons-react";
import { TRPCClientError } from "@trpc/client";
import type { ReactNode } from "react";
import { words } from "../_words.ts";
import { Sentence } from "./sentence.tsx";

/** Returns what is said of an error: what the service said, or that it did not answer. */
export const errorSentence = (error: { message: string }): string =>
  error instanceof TRPCClientError && !error.data ? words.failed.noAnswer : error.message;

/** An error of a call. Without data the service did not answer. */
export interface Answered {
  message: string;
  data?: { httpStatus?: number } | null | undefined;
}

/** Returns what the service said against what was entered; undefined for an error that is about something else. */
export const inputErrorOf = (error: Answered | null): string | undefined =>
  error?.data?.httpStatus === 400 || error?.data?.httpStatus === 409 ? error.message : undefined;

/** Whether the service said that there is no such thing, or that its id is none. */
export const isMissing = (error: Answered | null): boolean =>
  error?.data?.httpStatus === 404 || error?.data?.httpStatus === 400;

/** Says why something could not be read or changed, in the words of the service. */
export function Failure({ error, retry }: { error: { message: string }; retry?: () => void }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title={words.failed.title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{errorSentence(error)}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            {words.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** What stands in place of a list that has nothing: what is missing, and what can be done. */
export function Empty({
  title,
  sentence,
  children,
}: {
  title: string;
  sentence?: string;
  children?: ReactNode;
}) {
  return (
    <Center py="xl" px="md">
      <Stack align="center" gap="xs" maw={420}>
        <ThemeIcon variant="light" color="gray" size="xl" radius="xl">
          <IconInbox size={22} stroke={1.5} />
        </ThemeIcon>
        <Text fw={500} ta="center">
          {title}
        </Text>
        {sentence && (
          <Text size="sm" c="dimmed" ta="center">
            <Sentence text={sentence} />
          </Text>
        )}
        {children}
      </Stack>
    </Center>
  );
}
