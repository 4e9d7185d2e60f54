"use client";

import { Anchor, Button, Select, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconUserShare } from "@tabler/icons-react";
import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { useChange } from "../../../../_parts/change.tsx";
import { FormModal } from "../../../../_parts/form-modal.tsx";
import { userName } from "../../../../_parts/user-name.ts";
import { useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import type { UserObject } from "./user-object.ts";

const MAX_REASON_CHARACTERS = 300;

/** Signs in as the user in another tab, to see what the user sees. */
export function SignInAs({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const { id } = user;
  const [isOpen, { open, close }] = useDisclosure(false);
  const [reason, setReason] = useState("");
  const [lifetime, setLifetime] = useState("");
  /** Of a link that the browser has not opened by itself. */
  const [link, setLink] = useState<string | null>(null);
  const begin = useChange(useTRPC().impersonateUser.mutationOptions());

  function submit(): void {
    const body = { reason, ...(lifetime === "" ? {} : { lifetime: Number(lifetime) }) };
    begin.mutate(
      { tenant, id, body },
      {
        onSuccess({ url }) {
          const tab = window.open(url);
          if (!tab) return setLink(url);
          // The page of the user is none of the console's.
          tab.opener = null;
          close();
        },
      },
    );
  }

  return (
    <>
      <Button
        variant="default"
        leftSection={<IconUserShare size={16} />}
        onClick={() => {
          setReason("");
          setLink(null);
          open();
        }}
      >
        {words.user.signInAs}
      </Button>
      <FormModal
        title={words.user.signInAsQuestion(userName(user))}
        opened={isOpen}
        onClose={close}
        onSubmit={submit}
        submit={words.user.signInAsSubmit}
        loading={begin.isPending}
        disabled={reason.trim() === ""}
      >
        <Text size="sm">{words.user.signInAsConsequence}</Text>
        <TextInput
          label={words.user.signInAsReason}
          description={words.user.signInAsReasonHint}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          maxLength={MAX_REASON_CHARACTERS}
          autoComplete="off"
          required
          data-autofocus
        />
        <Select
          label={words.user.signInAsLength}
          data={words.user.signInAsLengths}
          value={lifetime}
          onChange={(value) => setLifetime(value ?? "")}
          allowDeselect={false}
          comboboxProps={{ withinPortal: true }}
        />
        {link !== null && (
          <Text size="sm" role="status">
            {words.user.signInAsBlocked}{" "}
            <Anchor href={link} target="_blank" rel="noopener" inherit onClick={close}>
              {words.user.signInAsOpen}
            </Anchor>
          </Text>
        )}
      </FormModal>
    </>
  );
}
