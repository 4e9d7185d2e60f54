"use client";

import { Button, Group, JsonInput, Select, Skeleton, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useCallback, useEffect, useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Failure } from "../../../../_parts/answers.tsx";
import { download } from "../../../../_parts/download.ts";
import { Panel } from "../../../../_parts/panel.tsx";
import { useSearchState } from "../../../../_parts/search-state.ts";
import { useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Replayed } from "./replayed.tsx";

const choices = ["recorded", "current", "changed"] as const;

type Choice = (typeof choices)[number];

const choiceOf = (text: string): Choice | null => choices.find((choice) => choice === text) ?? null;

/** The object that a text of JSON is; null if it is none. */
function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Performs a recorded flow again: what it is performed against is in the address. */
export function Replay({ id }: { id: string }) {
  const tenant = useTenant();
  const [value, change] = useSearchState();
  const performed = choiceOf(value("replay"));
  const [against, setAgainst] = useState<Choice>(performed ?? "recorded");
  const [text, setText] = useState(value("changes"));
  const [isWrong, setWrong] = useState(false);

  const perform = (event: FormEvent) => {
    event.preventDefault();
    const isObject = against !== "changed" || objectOf(text) !== null;
    setWrong(!isObject);
    if (isObject) change({ replay: against, changes: against === "changed" ? text : "" }, { replaces: true });
  };
  return (
    <Panel title={words.flow.replay.title} sentence={words.flow.replay.sentence}>
      <form onSubmit={perform}>
        <Stack gap="sm">
          <Group align="flex-end" gap="sm">
            <Select
              label={words.flow.replay.against}
              data={choices.map((choice) => ({ value: choice, label: words.flow.replay.settings[choice] }))}
              value={against}
              onChange={(chosen) => setAgainst(choiceOf(chosen ?? "") ?? "recorded")}
              allowDeselect={false}
              w={{ base: "100%", xs: 240 }}
            />
            <Button type="submit">{words.flow.replay.perform}</Button>
            <Button variant="default" onClick={() => download(tenant, "exportFlow", { id })}>
              {words.flow.replay.download}
            </Button>
          </Group>
          {against === "changed" && (
            <JsonInput
              label={words.flow.replay.changes}
              description={words.flow.replay.changesHint}
              value={text}
              onChange={(typed) => {
                setText(typed);
                setWrong(false);
              }}
              error={isWrong && words.flow.replay.notJson}
              formatOnBlur
              autosize
              minRows={3}
              maxRows={12}
              spellCheck={false}
            />
          )}
        </Stack>
      </form>
      {performed && <Answer id={id} against={performed} changes={value("changes")} />}
    </Panel>
  );
}

function Answer({ id, against, changes }: { id: string; against: Choice; changes: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const { mutate, data, error } = useMutation(trpc.replayFlow.mutationOptions());
  const perform = useCallback(() => {
    const config = against === "changed" ? { config: objectOf(changes) ?? {} } : {};
    mutate({ tenant, id, body: { settings: against === "recorded" ? "recorded" : "current", ...config } });
  }, [mutate, tenant, id, against, changes]);
  // The address says what is shown, also when the page is opened by it.
  useEffect(perform, [perform]);
  if (error) return <Failure error={error} retry={perform} />;
  return data ? <Replayed replayed={data} /> : <Skeleton height={160} />;
}
