import { Badge, Group, Stack, Text } from "@mantine/core";
import type { AdminOperations } from "../../../packages/server/src/interface.ts";
import { words } from "../_words.ts";
import type { Column } from "./data-table.tsx";
import { Moment } from "./moment.tsx";

/** What an access of an application to an account says of itself, on either side. */
type Access = Pick<
  AdminOperations["listUserApplications"]["answer"]["items"][number],
  "consent" | "since" | "access_tokens" | "refresh_tokens"
>;

/** The columns of accesses that the page of the user and that of the application share. */
export const accessColumns = <Row extends Access>(): Column<Row>[] => [
  {
    id: "allowed",
    header: words.accesses.allowed,
    cell: ({ row }) => <Allowed consent={row.original.consent} />,
  },
  { id: "since", header: words.accesses.since, cell: ({ row }) => <Moment at={row.original.since} /> },
  {
    id: "asksAgain",
    header: words.accesses.asksAgain,
    cell: ({ row }) => <Moment at={row.original.consent?.expires_at ?? null} />,
  },
  {
    id: "tokens",
    header: words.accesses.tokens,
    cell: ({ row: { original } }) => (
      <Text size="sm" style={{ whiteSpace: "nowrap" }}>
        {words.accesses.tokenCounts(original.access_tokens, original.refresh_tokens)}
      </Text>
    ),
  },
];

/** The scopes, claims and scopes of APIs that a user has allowed. */
function Allowed({ consent }: { consent: Access["consent"] }) {
  if (!consent)
    return (
      <Text size="sm" c="dimmed" miw={160}>
        {words.accesses.ofOperator}
      </Text>
    );
  const apis = Object.entries(consent.resources);
  const names = [...consent.scopes, ...consent.claims];
  if (names.length === 0 && apis.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {words.accesses.nothing}
      </Text>
    );
  return (
    <Stack gap={4} miw={160}>
      <Names names={names} />
      {apis.map(([api, scopes]) => (
        <Stack key={api} gap={2}>
          <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {api}
          </Text>
          <Names names={scopes} />
        </Stack>
      ))}
    </Stack>
  );
}

const Names = ({ names }: { names: readonly string[] }) => (
  <Group gap={4}>
    {names.map((name) => (
      <Badge key={name} variant="light" color="gray" radius="sm" fw={500}>
        {name}
      </Badge>
    ))}
  </Group>
);
