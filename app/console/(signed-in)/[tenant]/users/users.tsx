"use client";

import { Anchor, Avatar, Badge, Button, Checkbox, Group, Menu, Popover, Stack, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconColumns, IconDownload, IconSearch } from "@tabler/icons-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { download } from "../../../_parts/download.ts";
import { Identifier } from "../../../_parts/identifier.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { useSearchState } from "../../../_parts/search-state.ts";
import { userName } from "../../../_parts/user-name.ts";
import { UserStatus } from "../../../_parts/user-status.tsx";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { CreateUser } from "./create-user.tsx";
import { FailedSignIns } from "./failed-sign-ins.tsx";
import { Selected } from "./selected.tsx";
import { UserFilters, useClearFilters, useUserFilter, useUserOrder } from "./user-filters.tsx";

type User = AdminOperations["listUsers"]["answer"]["items"][number];

const SIZE = 25;

/** The users of the tenant: searched, filtered, changed together, and exported. */
export function Users() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const [value] = useSearchState();
  const { filter, count } = useUserFilter();
  const order = useUserOrder();
  const [shown, setShown] = useShownColumns();
  const [chosen, setChosen] = useChosen(JSON.stringify(filter));
  const listed = usePagedList(
    (page) => trpc.listUsers.queryOptions({ tenant, query: { ...filter, ...order, ...page } }),
    { size: SIZE },
  );
  const isFiltered = count > 0 || value("q") !== "";
  return (
    <>
      <PageHead title={words.pages.users} sentence={words.users.sentence}>
        {may("exportUsers") && <Export filter={filter} />}
        {may("createUser") && <CreateUser />}
      </PageHead>
      <UserFilters>
        <ColumnChoice shown={shown} onChange={setShown} />
      </UserFilters>
      {may("actOnUsers") && <Selected chosen={chosen} onChange={setChosen} />}
      <DataTable<User>
        label={words.pages.users}
        {...listed}
        columns={[
          nameColumn,
          ...columnNames.filter((name) => shown.includes(name)).map((name) => columns[name]),
        ]}
        idOf={({ id }) => id}
        nameOf={(user) => userName(user)}
        hrefOf={({ id }) => pathOf(`users/${id}`)}
        {...(may("actOnUsers") ? { selection: { chosen, onChange: setChosen } } : {})}
        empty={
          isFiltered ? <NoneFound /> : <Empty title={words.users.none} sentence={words.users.noneSentence} />
        }
      />
    </>
  );
}

/** Selected users, on every page of a list. Another search begins with none, so that nothing is changed that was not seen. */
function useChosen(list: string): [Record<string, true>, (chosen: Record<string, true>) => void] {
  const [chosen, setChosen] = useState<{ list: string; rows: Record<string, true> }>({ list, rows: {} });
  return [chosen.list === list ? chosen.rows : {}, (rows) => setChosen({ list, rows })];
}

/** What is shown where no user fits: it may be that the address never had an account. */
function NoneFound() {
  const [value, change] = useSearchState();
  const may = useMay();
  const clear = useClearFilters();
  const sought = value("q");
  if (sought !== "" && value("failures") === sought) return <FailedSignIns identifier={sought} />;
  return (
    <Empty title={words.users.notFound} sentence={words.users.notFoundSentence}>
      <Group justify="center" gap="xs">
        <Button variant="default" onClick={() => clear({ search: true })}>
          {words.users.clear}
        </Button>
        {sought !== "" && may("findFailedSignIns") && (
          <Button
            leftSection={<IconSearch size={16} />}
            onClick={() => change({ failures: sought })}
            styles={{ label: { whiteSpace: "normal", lineHeight: 1.35, overflowWrap: "anywhere" } }}
            h="auto"
            mih={36}
            py={6}
          >
            {words.users.lookForFailures(sought)}
          </Button>
        )}
      </Group>
    </Empty>
  );
}

function Export({ filter }: { filter: object }) {
  const tenant = useTenant();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />}>
          {words.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(words.users.exports).map(([format, label]) => (
          <Menu.Item
            key={format}
            onClick={() => download(tenant, "exportUsers", { query: { ...filter, format } })}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The methods that the object of a user tells of; whether codes can be sent is told by its addresses. */
const methodsOf = ({ password, webauthn_credentials: keys = [], otp }: User): string[] => [
  ...(password ? [words.methods.password] : []),
  ...(keys.some(({ mfa_only }) => !mfa_only) ? [words.methods.passkey] : []),
  ...(keys.some(({ mfa_only }) => mfa_only) ? [words.methods.security_key] : []),
  ...(otp ? [words.methods.totp] : []),
];

const providersOf = ({ identities = [] }: User) => [
  ...new Set(identities.map(({ provider_name }) => provider_name)),
];

function Tags({ names }: { names: string[] }) {
  return (
    <Group gap={4} maw={220}>
      {names.map((name) => (
        <Badge key={name} variant="light" color="gray" tt="none" fw={500} radius="sm">
          {name}
        </Badge>
      ))}
    </Group>
  );
}

const nameColumn: Column<User> = {
  id: "user",
  header: words.users.column.user,
  cell: ({ row: { original } }) => <Name user={original} />,
};

function Name({ user }: { user: User }) {
  const pathOf = usePagePath();
  return (
    <Group gap="sm" wrap="nowrap">
      <Avatar size="sm" name={user.name ?? userName(user)} aria-hidden />
      <Stack gap={0} maw={240}>
        <Anchor
          component={Link}
          size="sm"
          fw={500}
          c="var(--mantine-color-text)"
          href={pathOf(`users/${user.id}`)}
          truncate
          tabIndex={-1}
        >
          {userName(user)}
        </Anchor>
        {user.name && (
          <Text size="xs" c="dimmed" truncate>
            {user.name}
          </Text>
        )}
      </Stack>
    </Group>
  );
}

const columnNames = [
  "status",
  "username",
  "phone",
  "methods",
  "providers",
  "language",
  "created",
  "lastSignIn",
  "id",
] as const;

type ColumnName = (typeof columnNames)[number];

const shownAtFirst: ColumnName[] = ["status", "methods", "created", "lastSignIn"];

const cells: Record<ColumnName, (user: User) => ReactNode> = {
  status: (user) => <UserStatus user={user} />,
  username: ({ username }) => username?.username,
  phone: ({ phone_number }) => phone_number,
  methods: (user) => <Tags names={methodsOf(user)} />,
  providers: (user) => <Tags names={providersOf(user)} />,
  language: ({ language }) => language,
  created: ({ created_at }) => <Moment at={created_at} />,
  lastSignIn: ({ last_sign_in_at }) => <Moment at={last_sign_in_at} />,
  id: ({ id }) => <Identifier value={id} shortened />,
};

const columns = Object.fromEntries(
  columnNames.map((name): [ColumnName, Column<User>] => [
    name,
    { id: name, header: words.users.column[name], cell: ({ row }) => cells[name](row.original) },
  ]),
) as Record<ColumnName, Column<User>>;

/** The columns that this browser shows. */
function useShownColumns(): [ColumnName[], (shown: ColumnName[]) => void] {
  const [stored, setStored] = useLocalStorage<string[]>({
    key: "stile-console-user-columns",
    defaultValue: shownAtFirst,
  });
  // Another version may have stored columns that this one does not have.
  return [columnNames.filter((name) => Array.isArray(stored) && stored.includes(name)), setStored];
}

function ColumnChoice({ shown, onChange }: { shown: ColumnName[]; onChange(shown: ColumnName[]): void }) {
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns size={16} />}>
          {words.users.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={words.users.columns}>
        <Checkbox.Group
          value={shown}
          onChange={(chosen) => onChange(chosen as ColumnName[])}
          aria-label={words.users.columns}
        >
          <Stack gap="xs">
            {columnNames.map((name) => (
              <Checkbox key={name} value={name} label={words.users.column[name]} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}
