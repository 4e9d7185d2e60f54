"use client";

import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { inputErrorOf } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { OneField } from "./one-field.tsx";
import type { UserObject } from "./user-object.ts";

export function Username({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id } = user;
  const stored = user.username?.username ?? "";
  const [typed, setTyped] = useState(stored);
  const set = useChange(trpc.setUsername.mutationOptions(), words.saved, { atField: true });
  const remove = useChange(trpc.deleteUsername.mutationOptions(), words.removed);
  return (
    <Panel title={words.user.username}>
      <OneField
        label={words.user.username}
        button={words.save}
        value={typed}
        onChange={(text) => {
          setTyped(text);
          set.reset();
        }}
        error={inputErrorOf(set.error)}
        isPending={set.isPending}
        isUnchanged={typed.trim() === "" || typed.trim() === stored}
        isReadOnly={!may("setUsername")}
        onSubmit={() => set.mutate({ tenant, id, body: { username: typed.trim() } })}
      >
        {stored !== "" && may("deleteUsername") && (
          <ConfirmedButton
            compact
            label={words.remove}
            about={words.user.username}
            title={words.user.removeUsername}
            loading={remove.isPending}
            onConfirm={() => remove.mutateAsync({ tenant, id })}
          >
            {words.user.removeUsernameConsequence}
          </ConfirmedButton>
        )}
      </OneField>
    </Panel>
  );
}
