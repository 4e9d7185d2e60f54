"use client";

import { Button, Group, JsonInput, SimpleGrid, Stack } from "@mantine/core";
import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { useChange } from "../../../../_parts/change.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { hasNullMember, mergePatchBetween } from "./merge-patch.ts";
import type { UserObject } from "./user-object.ts";

type Kind = keyof typeof words.user.metadataKinds;

const kinds = Object.keys(words.user.metadataKinds) as Kind[];

/** The metadata of the user, each kind as JSON. */
export function Metadata({ user }: { user: UserObject }) {
  return (
    <Panel title={words.user.metadata}>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
        {kinds.map((kind) => (
          <Editor key={`${kind} ${JSON.stringify(user.metadata?.[kind])}`} user={user} kind={kind} />
        ))}
      </SimpleGrid>
    </Panel>
  );
}

const written = (value: object) => JSON.stringify(value, null, 2);

/** Reads what was typed: the object, or what is wrong with it. */
function read(typed: string): { value: Record<string, unknown> } | { wrong: string } {
  try {
    const value: unknown = JSON.parse(typed.trim() === "" ? "{}" : typed);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { wrong: words.user.notObject };
    if (hasNullMember(value)) return { wrong: words.user.hasNull };
    return { value: value as Record<string, unknown> };
  } catch {
    return { wrong: words.user.notJson };
  }
}

function Editor({ user, kind }: { user: UserObject; kind: Kind }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { label, hint } = words.user.metadataKinds[kind];
  const stored = user.metadata?.[kind] ?? {};
  const [typed, setTyped] = useState(written(stored));
  const save = useChange(trpc.patchUserMetadata.mutationOptions(), words.saved);
  const result = read(typed);
  const patch = "value" in result ? mergePatchBetween(stored, result.value) : {};
  const wrong = "wrong" in result ? result.wrong : save.error?.message;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ tenant, id: user.id, body: { [kind]: patch } });
      }}
    >
      <Stack gap="xs">
        <JsonInput
          label={label}
          description={hint}
          value={typed}
          onChange={(text) => {
            setTyped(text);
            save.reset();
          }}
          error={wrong}
          validationError={words.user.notJson}
          formatOnBlur
          autosize
          minRows={5}
          maxRows={20}
          disabled={!may("patchUserMetadata")}
          spellCheck={false}
        />
        {may("patchUserMetadata") && (
          <Group justify="flex-end">
            <Button
              type="submit"
              variant="default"
              size="compact-sm"
              aria-label={`${words.save} ${label}`}
              loading={save.isPending}
              disabled={Object.keys(patch).length === 0}
            >
              {words.save}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
