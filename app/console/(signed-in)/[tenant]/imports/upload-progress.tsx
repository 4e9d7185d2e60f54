"use client";

import { Alert, Button, Progress, Stack, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { errorSentence } from "../../../_parts/answers.tsx";
import { words } from "../../../_words.ts";
import type { useUpload } from "./use-upload.ts";

/** How far an upload is, and what to do if it was cut off. */
export function UploadProgress({
  upload: { file, done, all, error },
  onGoOn,
}: {
  upload: NonNullable<ReturnType<typeof useUpload>["upload"]>;
  onGoOn(): void;
}) {
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {words.imports.uploading(file.name)} · {words.imports.sent(done, all)}
      </Text>
      <Progress
        aria-label={words.imports.progress}
        value={(100 * done) / all}
        animated={error === null}
        color={error === null ? "indigo" : "gray"}
      />
      {error && (
        <Alert
          color="red"
          role="alert"
          icon={<IconPlugConnectedX size={18} />}
          title={words.imports.uploadFailed}
        >
          <Stack gap="xs" align="flex-start">
            <Text size="sm">{errorSentence(error)}</Text>
            <Button size="xs" variant="default" onClick={onGoOn}>
              {words.imports.goOn}
            </Button>
          </Stack>
        </Alert>
      )}
    </Stack>
  );
}
