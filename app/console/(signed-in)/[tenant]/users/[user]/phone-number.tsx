"use client";

import { Checkbox } from "@mantine/core";
import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { inputErrorOf } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { OneField } from "./one-field.tsx";
import type { UserObject } from "./user-object.ts";

export function PhoneNumber({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id, phone_number: stored = "", phone_number_verified: storedVerified = false } = user;
  const [typed, setTyped] = useState(stored);
  const [isVerified, setVerified] = useState(storedVerified);
  const set = useChange(trpc.setPhoneNumber.mutationOptions(), words.saved, { atField: true });
  const remove = useChange(trpc.deletePhoneNumber.mutationOptions(), words.removed);
  const body = { phone_number: typed.trim(), phone_number_verified: isVerified };
  return (
    <Panel title={words.user.phone}>
      <OneField
        label={words.user.phone}
        hint={words.user.phoneHint}
        button={words.save}
        value={typed}
        onChange={(text) => {
          setTyped(text);
          set.reset();
        }}
        error={inputErrorOf(set.error)}
        type="tel"
        isPending={set.isPending}
        isUnchanged={typed.trim() === "" || (typed.trim() === stored && isVerified === storedVerified)}
        isReadOnly={!may("setPhoneNumber")}
        onSubmit={() => set.mutate({ tenant, id, body })}
      >
        <Checkbox
          label={words.user.isVerified}
          checked={isVerified}
          disabled={!may("setPhoneNumber")}
          onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
        />
        {stored !== "" && may("deletePhoneNumber") && (
          <ConfirmedButton
            compact
            label={words.remove}
            about={words.user.phone}
            title={words.user.removePhone}
            loading={remove.isPending}
            onConfirm={() => remove.mutateAsync({ tenant, id })}
          >
            {words.user.removePhoneConsequence}
          </ConfirmedButton>
        )}
      </OneField>
    </Panel>
  );
}
