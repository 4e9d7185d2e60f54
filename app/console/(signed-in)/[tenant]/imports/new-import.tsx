"use client";

import { Accordion, Checkbox, Select, Stack, TagsInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useRef, useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Panel } from "../../../_parts/panel.tsx";
import { usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { FileDrop } from "./file-drop.tsx";
import { UploadProgress } from "./upload-progress.tsx";
import { useUpload } from "./use-upload.ts";

type Form = NonNullable<NonNullable<AdminOperations["beginImport"]["input"]["body"]>["format"]>;

const forms: Record<Form, string> = words.imports.forms;

const isForm = (name: string | null): name is Form => name !== null && Object.hasOwn(forms, name);

/** Sends a file of users, has it checked, and goes to its page. */
export function NewImport() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const router = useRouter();
  const pathOf = usePagePath();
  const [form, setForm] = useState<string | null>(null);
  const [providers, setProviders] = useState<string[]>([]);
  const [emitsEvents, setEmitsEvents] = useState(false);
  const begin = useMutation(trpc.beginImport.mutationOptions());
  const { upload, send } = useUpload((id) => router.push(pathOf(`imports/${id}`)));
  /** Of the file that is being sent, so that it goes on as the same import. */
  const begun = useRef<string | null>(null);
  const isSending = upload !== null && upload.error === null;
  async function open(): Promise<string> {
    if (begun.current !== null) return begun.current;
    const { id } = await begin.mutateAsync({
      tenant,
      body: {
        ...(isForm(form) ? { format: form } : {}),
        providers: Object.fromEntries(providers.map(namesOf)),
        emit_events: emitsEvents,
      },
    });
    begun.current = id;
    return id;
  }
  return (
    <Panel title={words.imports.upload}>
      <FileDrop
        label={words.imports.choose}
        disabled={isSending}
        onFile={(file) => {
          begun.current = null;
          void send(file, open);
        }}
      />
      {upload && <UploadProgress upload={upload} onGoOn={() => void send(upload.file, open)} />}
      <Accordion variant="contained" order={3}>
        <Accordion.Item value="options">
          <Accordion.Control>{words.imports.options}</Accordion.Control>
          <Accordion.Panel>
            <Stack>
              <Select
                label={words.imports.form}
                placeholder={words.imports.anyForm}
                data={Object.entries(forms).map(([value, label]) => ({ value, label }))}
                value={form}
                onChange={setForm}
                clearable
                clearButtonProps={{ "aria-label": words.clear }}
                disabled={isSending}
              />
              <TagsInput
                label={words.imports.providers}
                description={words.imports.providersHint}
                value={providers}
                onChange={(names) => setProviders(names.filter((one) => /^[^=]+=[^=]+$/.test(one)))}
                maxTags={100}
                disabled={isSending}
              />
              <Checkbox
                label={words.imports.events}
                checked={emitsEvents}
                onChange={({ currentTarget }) => setEmitsEvents(currentTarget.checked)}
                disabled={isSending}
              />
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Panel>
  );
}

/** The name of a provider there, and here. */
function namesOf(text: string): [string, string] {
  const [there = "", here = ""] = text.split("=", 2);
  return [there.trim(), here.trim()];
}
