"use client";

import { Button, List, Skeleton, Stack, Text } from "@mantine/core";
import { IconMailForward } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Failure } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { spoken } from "../../../../_parts/protocol-name.ts";
import { Sentence } from "../../../../_parts/sentence.tsx";
import { userName } from "../../../../_parts/user-name.ts";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { SignInAs } from "./sign-in-as.tsx";
import type { UserObject } from "./user-object.ts";

/** What can be done with the user as a whole. */
export function UserActions({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id } = user;
  const undoBlock = useChange(trpc.unblockUser.mutationOptions(), words.undone);
  const undoUnblock = useChange(trpc.blockUser.mutationOptions(), words.undone);
  const block = useChange(trpc.blockUser.mutationOptions(), words.user.nowBlocked, {
    undo: undoBlock.mutateAsync,
  });
  const unblock = useChange(trpc.unblockUser.mutationOptions(), words.user.unblocked, {
    undo: may("blockUser") ? undoUnblock.mutateAsync : undefined,
  });
  const recover = useChange(trpc.offerUserRecovery.mutationOptions(), words.user.recoverySent);
  return (
    <>
      {may("impersonateUser") && !user.blocked_at && <SignInAs user={user} />}
      {may("offerUserRecovery") && !user.blocked_at && (
        <Button
          variant="default"
          leftSection={<IconMailForward size={16} />}
          loading={recover.isPending}
          onClick={() => recover.mutate({ tenant, id })}
        >
          {words.user.recovery}
        </Button>
      )}
      {user.blocked_at
        ? may("unblockUser") && (
            <Button
              variant="default"
              loading={unblock.isPending}
              onClick={() => unblock.mutate({ tenant, id })}
            >
              {words.user.unblock}
            </Button>
          )
        : may("blockUser") && (
            <ConfirmedButton
              label={words.user.block}
              title={words.user.blockQuestion}
              loading={block.isPending}
              onConfirm={() => block.mutateAsync({ tenant, id })}
            >
              {words.user.blockConsequence}
            </ConfirmedButton>
          )}
      {may("deleteUser") && <Delete user={user} />}
    </>
  );
}

/** Deletes the user, after what goes with it was shown and its name was typed. */
function Delete({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const { id } = user;
  const remove = useChange(trpc.deleteUser.mutationOptions(), words.user.deleted, {
    leadsTo: pathOf("users"),
  });
  return (
    <ConfirmedButton
      label={words.user.delete}
      title={words.user.deleteQuestion}
      typed={userName(user)}
      loading={remove.isPending}
      onConfirm={() => remove.mutateAsync({ tenant, id })}
    >
      <WhatGoes id={id} />
    </ConfirmedButton>
  );
}

/** A server of another version may have other tables. */
const nameOfTable = (table: string): string =>
  (words.tables as Partial<Record<string, string>>)[table] ?? spoken(table);

function WhatGoes({ id }: { id: string }) {
  const tenant = useTenant();
  const { data, error, refetch } = useQuery(useTRPC().previewUserDeletion.queryOptions({ tenant, id }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton height={160} />;
  const { rows, remains } = data;
  return (
    <Stack gap="xs">
      <Text size="sm">{words.user.deleteConsequence}</Text>
      <List size="sm" spacing={2}>
        {Object.entries(rows).map(([table, count]) => (
          <List.Item key={table}>
            {nameOfTable(table)}: {count.toLocaleString("en")}
          </List.Item>
        ))}
      </List>
      <details>
        <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
          {words.user.remains}
        </Text>
        <List size="sm" spacing={2} mt="xs">
          {Object.entries(remains).map(([table, sentence]) => (
            <List.Item key={table}>
              {nameOfTable(table)}: <Sentence text={sentence} />
            </List.Item>
          ))}
        </List>
      </details>
    </Stack>
  );
}
