"use client";

import { Badge, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { inputErrorOf } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { OneField } from "./one-field.tsx";
import type { UserObject } from "./user-object.ts";

/** The email addresses of the user. */
export function Emails({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id, emails = [] } = user;
  const makePrimary = useChange(trpc.setPrimaryUserEmail.mutationOptions(), words.user.madePrimary);
  const verify = useChange(trpc.verifyUserEmail.mutationOptions(), words.user.nowVerified);
  const remove = useChange(trpc.deleteUserEmail.mutationOptions(), words.removed);
  return (
    <Panel title={words.user.emails}>
      {emails.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.user.noEmails}
        </Text>
      ) : (
        <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {emails.map(({ id: email_id, address, is_primary, is_verified }) => (
            <Group key={email_id} component="li" justify="space-between" gap="xs">
              <Stack gap={4} style={{ minWidth: 0 }}>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {address}
                </Text>
                <Group gap={4}>
                  {is_primary && <Badge variant="light">{words.user.primary}</Badge>}
                  <Badge variant="light" color={is_verified ? "teal" : "yellow"}>
                    {is_verified ? words.user.verified : words.user.notVerified}
                  </Badge>
                </Group>
              </Stack>
              <Group gap="xs">
                {!is_verified && may("verifyUserEmail") && (
                  <ConfirmedButton
                    compact
                    color="indigo"
                    label={words.user.verify}
                    about={address}
                    title={words.user.verifyQuestion}
                    loading={verify.isPending}
                    onConfirm={() => verify.mutateAsync({ tenant, id, email_id })}
                  >
                    {words.user.verifyConsequence}
                  </ConfirmedButton>
                )}
                {!is_primary && may("setPrimaryUserEmail") && (
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={`${words.user.makePrimary} ${address}`}
                    loading={makePrimary.isPending}
                    onClick={() => makePrimary.mutate({ tenant, id, email_id })}
                  >
                    {words.user.makePrimary}
                  </Button>
                )}
                {!is_primary && may("deleteUserEmail") && (
                  <ConfirmedButton
                    compact
                    label={words.remove}
                    about={address}
                    title={words.user.removeEmail}
                    loading={remove.isPending}
                    onConfirm={() => remove.mutateAsync({ tenant, id, email_id })}
                  >
                    {words.user.removeEmailConsequence}
                  </ConfirmedButton>
                )}
              </Group>
            </Group>
          ))}
        </Stack>
      )}
      {may("createUserEmail") && <AddEmail id={id} />}
    </Panel>
  );
}

function AddEmail({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [address, setAddress] = useState("");
  const [isVerified, setVerified] = useState(false);
  const add = useChange(
    trpc.createUserEmail.mutationOptions({
      onSuccess: () => {
        setAddress("");
        setVerified(false);
      },
    }),
    words.user.emailAdded,
    { atField: true },
  );
  return (
    <OneField
      label={words.user.newEmail}
      button={words.add}
      value={address}
      onChange={(typed) => {
        setAddress(typed);
        add.reset();
      }}
      type="email"
      error={inputErrorOf(add.error)}
      isPending={add.isPending}
      isUnchanged={address.trim() === ""}
      onSubmit={() => add.mutate({ tenant, id, body: { address: address.trim(), is_verified: isVerified } })}
    >
      <Checkbox
        label={words.user.isVerified}
        checked={isVerified}
        onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
      />
    </OneField>
  );
}
