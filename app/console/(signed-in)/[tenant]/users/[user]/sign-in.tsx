"use client";

import { Alert, Badge, Group, List, SimpleGrid, Skeleton, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconCircleCheck, IconCircleX, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Failure } from "../../../../_parts/answers.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { Sentence } from "../../../../_parts/sentence.tsx";
import { useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Credentials } from "./credentials.tsx";
import { TrustedBrowsers } from "./trusted-browsers.tsx";
import type { UserObject } from "./user-object.ts";

/** Whether and how the user can sign in, and with what. */
export function SignIn({ user }: { user: UserObject }) {
  return (
    <Stack gap="md">
      <Why user={user} />
      <Credentials user={user} />
      <TrustedBrowsers id={user.id} />
    </Stack>
  );
}

type Method = AdminOperations["listUserLoginMethods"]["answer"]["methods"][number];

/** Answers the question in one sentence, then tells of each method what has decided. */
function Why({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const { data, error, refetch } = useQuery(
    useTRPC().listUserLoginMethods.queryOptions({ tenant, id: user.id }),
  );
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Panel title={words.user.why} sentence={words.user.whySentence}>
      {data ? (
        <>
          <Alert
            color={data.can_sign_in ? "teal" : "red"}
            icon={data.can_sign_in ? <IconCircleCheck size={18} /> : <IconCircleX size={18} />}
          >
            <Text size="sm" fw={500}>
              {verdictOf(data, user)}
            </Text>
          </Alert>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="md">
            {data.methods.map((method) => (
              <MethodReasons key={`${method.method} ${method.used_as}`} method={method} />
            ))}
          </SimpleGrid>
        </>
      ) : (
        <Skeleton height={320} />
      )}
    </Panel>
  );
}

function verdictOf(
  { can_sign_in, methods }: AdminOperations["listUserLoginMethods"]["answer"],
  user: UserObject,
): string {
  if (user.blocked_at) return words.user.cannotBlocked;
  if (!can_sign_in) return words.user.cannot;
  const usable = methods.filter(({ usable, used_as }) => usable && used_as === "first_factor");
  return words.user.canWith(usable.map(({ method }) => words.methods[method].toLowerCase()).join(", "));
}

function MethodReasons({ method: { method, used_as, usable, reasons } }: { method: Method }) {
  const name = words.methods[method];
  return (
    <Group align="flex-start" gap="sm" wrap="nowrap">
      <ThemeIcon
        variant="light"
        color={usable ? "teal" : "gray"}
        radius="xl"
        size="sm"
        mt={2}
        role="img"
        aria-label={usable ? words.user.usable : words.user.notUsable}
      >
        {usable ? <IconCheck size={14} /> : <IconX size={14} />}
      </ThemeIcon>
      <Stack gap={4}>
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <Badge variant="light" color="gray" size="sm" tt="none">
            {used_as === "first_factor" ? words.user.firstFactor : words.user.secondFactor}
          </Badge>
        </Group>
        <List size="sm" spacing={2} listStyleType="none" aria-label={words.user.reasonsOf(name)}>
          {reasons.map(({ sentence }) => (
            <List.Item key={sentence} c="dimmed">
              <Sentence text={sentence} />
            </List.Item>
          ))}
        </List>
      </Stack>
    </Group>
  );
}
