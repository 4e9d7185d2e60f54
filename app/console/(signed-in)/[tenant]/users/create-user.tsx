"use client";

import { Button, Checkbox, Group, Modal, Stack, TagsInput, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { inputErrorOf } from "../../../_parts/answers.tsx";
import { useChange } from "../../../_parts/change.tsx";
import { Sentence } from "../../../_parts/sentence.tsx";
import { usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

/** Makes a user with addresses, a username, or both, and goes to its page. */
export function CreateUser() {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.users.create}
      </Button>
      <Modal opened={isOpen} onClose={close} title={words.users.create} centered>
        <Form onClose={close} />
      </Modal>
    </>
  );
}

function Form({ onClose }: { onClose(): void }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const router = useRouter();
  const pathOf = usePagePath();
  const [addresses, setAddresses] = useState<string[]>([]);
  const [typed, setTyped] = useState("");
  const [areVerified, setVerified] = useState(false);
  const [username, setUsername] = useState("");
  const create = useChange(
    trpc.createUser.mutationOptions({
      onSuccess: ({ id }) => {
        onClose();
        router.push(pathOf(`users/${id}`));
      },
    }),
    words.users.created,
    { atField: true },
  );
  const wrong = inputErrorOf(create.error);
  const isAboutUsername = wrong !== undefined && /username/i.test(wrong);
  // An address that Enter has not ended is meant too.
  const all = [...addresses, ...(typed.trim() === "" ? [] : [typed.trim()])];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const emails = all.map((address, index) => ({
          address,
          is_primary: index === 0,
          is_verified: areVerified,
        }));
        create.mutate({ tenant, body: { emails, ...(username === "" ? {} : { username }) } });
      }}
    >
      <Stack>
        <TagsInput
          label={words.users.emails}
          description={words.users.emailsHint}
          value={addresses}
          onChange={(chosen) => {
            setAddresses(chosen);
            create.reset();
          }}
          error={!isAboutUsername && wrong !== undefined && <Sentence text={wrong} />}
          searchValue={typed}
          onSearchChange={setTyped}
          splitChars={[",", " ", ";"]}
          data-autofocus
        />
        <Checkbox
          label={words.users.areVerified}
          checked={areVerified}
          onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
        />
        <TextInput
          label={words.users.username}
          value={username}
          onChange={({ currentTarget }) => {
            setUsername(currentTarget.value);
            create.reset();
          }}
          error={isAboutUsername && <Sentence text={wrong} />}
          autoComplete="off"
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button type="submit" loading={create.isPending} disabled={all.length === 0 && username === ""}>
            {words.users.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
