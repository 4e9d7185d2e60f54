"use client";

import { MultiSelect, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { subscribableEventNames } from "#server/config/event-names";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { words } from "../../../_words.ts";

type EventName = (typeof subscribableEventNames)[number];

interface Values {
  callback: string;
  events: EventName[];
  enabled: boolean;
}

interface Props {
  title: string;
  opened: boolean;
  onClose(): void;
  loading: boolean;
  onSave(values: Values): void;
  /** What is changed; none: a new webhook, which is enabled. */
  current?: Values;
}

/** The settings of a webhook. Each opening begins with what is stored. */
export function WebhookForm(props: Props) {
  return props.opened ? <OpenForm {...props} /> : null;
}

function OpenForm({ current, onSave, ...modal }: Props) {
  const [values, setValues] = useState<Values>(current ?? { callback: "", events: [], enabled: true });
  return (
    <FormModal
      {...modal}
      disabled={values.callback === "" || values.events.length === 0}
      onSubmit={() => onSave(values)}
    >
      <TextInput
        label={words.webhooks.callback}
        description={words.webhooks.callbackHint}
        type="url"
        required
        data-autofocus
        placeholder="https://app.example.com/events"
        value={values.callback}
        onChange={({ currentTarget }) => setValues({ ...values, callback: currentTarget.value })}
      />
      <MultiSelect
        label={words.webhooks.events}
        description={words.webhooks.eventsHint}
        required
        searchable
        clearable
        clearButtonProps={{ "aria-label": words.clear }}
        data={subscribableEventNames.toSorted()}
        value={values.events}
        onChange={(events) => setValues({ ...values, events: events as EventName[] })}
      />
      {current && (
        <Switch
          label={words.enabled}
          checked={values.enabled}
          onChange={({ currentTarget }) => setValues({ ...values, enabled: currentTarget.checked })}
        />
      )}
    </FormModal>
  );
}
