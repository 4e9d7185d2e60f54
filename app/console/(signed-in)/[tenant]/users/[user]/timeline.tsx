"use client";

import {
  Anchor,
  Badge,
  Button,
  Code,
  Group,
  Timeline as Line,
  MultiSelect,
  Paper,
  Skeleton,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import {
  IconAlertCircle,
  IconBroadcast,
  IconDeviceLaptop,
  IconEdit,
  IconLogin,
  IconMail,
  IconMessage,
} from "@tabler/icons-react";
import { useQueries } from "@tanstack/react-query";
import dayjs from "dayjs";
import Link from "next/link";
import { type ComponentType, useState } from "react";
import { describeUserAgent } from "#server/lib/user-agent";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty, Failure } from "../../../../_parts/answers.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { useSearchState } from "../../../../_parts/search-state.ts";
import { Sentence } from "../../../../_parts/sentence.tsx";
import { usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

type Happening = AdminOperations["getUserTimeline"]["answer"]["happenings"][number];
type Kind = Happening["kind"];

const icons: Record<Kind, ComponentType<{ size?: number }>> = {
  sign_in: IconLogin,
  failure: IconAlertCircle,
  change: IconEdit,
  mail: IconMail,
  sms: IconMessage,
  session: IconDeviceLaptop,
  event: IconBroadcast,
};

const isKind = (name: string): name is Kind => Object.hasOwn(icons, name);

/** What happened to the user, by day, as far back as is asked for. */
export function Timeline({ id }: { id: string }) {
  const [value, change] = useSearchState();
  const kinds = value("kind").split(",").filter(isKind);
  return (
    <Stack gap="md">
      <MultiSelect
        label={words.user.shown}
        placeholder={kinds.length === 0 ? words.any : undefined}
        data={Object.entries(words.user.timelineKinds).map(([kind, label]) => ({ value: kind, label }))}
        value={kinds}
        onChange={(chosen) => change({ kind: chosen.join(",") })}
        clearable
        maw={420}
      />
      <Happenings key={kinds.join()} id={id} kinds={kinds} />
    </Stack>
  );
}

const SIZE = 50;

function Happenings({ id, kinds }: { id: string; kinds: Kind[] }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  // Where each page that is shown begins; empty for the newest.
  const [starts, setStarts] = useState([""]);
  const pages = useQueries({
    queries: starts.map((after) =>
      trpc.getUserTimeline.queryOptions({
        tenant,
        id,
        query: { limit: SIZE, after, ...(kinds.length > 0 ? { kind: kinds } : {}) },
      }),
    ),
  });
  const happenings = pages.flatMap(({ data }) => data?.happenings ?? []);
  const failed = pages.find(({ error, data }) => error && !data);
  const last = pages.at(-1);
  const next = last?.data?.next;
  if (last?.data && happenings.length === 0)
    return (
      <Paper withBorder>
        <Empty title={words.user.noTimeline} sentence={words.user.noTimelineSentence} />
      </Paper>
    );
  return (
    <Stack gap="lg">
      {[...Map.groupBy(happenings, ({ at }) => dayjs(at).format("YYYY-MM-DD"))].map(([day, ofDay]) => (
        <Paper key={day} withBorder p="md" component="section" aria-label={dayName(day)}>
          <Title order={2} size="h5" mb="md">
            {dayName(day)}
          </Title>
          <Line bulletSize={26} lineWidth={2} active={-1}>
            {ofDay.map((happening) => (
              <Entry key={happening.id} happening={happening} />
            ))}
          </Line>
        </Paper>
      ))}
      {failed?.error && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {last?.isPending && <Skeleton height={240} />}
      {next && (
        <Group justify="center">
          <Button variant="default" onClick={() => setStarts([...starts, next])}>
            {words.user.older}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const dayFormat = new Intl.DateTimeFormat("en", { dateStyle: "full" });

const dayName = (day: string) => dayFormat.format(dayjs(day).toDate());

function Entry({ happening }: { happening: Happening }) {
  const { kind, sentence, reason, at, by_operator, source_ip, user_agent } = happening;
  const Icon = icons[kind];
  const where = [user_agent && describeUserAgent(user_agent), source_ip].filter(Boolean).join(" · ");
  return (
    <Line.Item
      bullet={<Icon size={14} />}
      color={kind === "failure" ? "red" : "gray"}
      title={
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {sentence}
          </Text>
          {by_operator && (
            <Badge variant="light" color="gray" size="sm" tt="none">
              {words.user.byOperator}
            </Badge>
          )}
        </Group>
      }
    >
      <Stack gap={4}>
        {reason && (
          <Text size="sm">
            <Sentence text={reason} />
          </Text>
        )}
        <Group gap="xs">
          <Moment at={at} />
          {where && (
            <Text size="xs" c="dimmed">
              {where}
            </Text>
          )}
          <Links happening={happening} />
        </Group>
        <Details happening={happening} />
      </Stack>
    </Line.Item>
  );
}

/** The sign-in that it was a part of, and the entry of the log about it. */
function Links({ happening }: { happening: Happening }) {
  const pathOf = usePagePath();
  const { flow_id, at, type, kind } = happening;
  // The bounds of the log exclude themselves.
  const from = dayjs(at).subtract(1, "millisecond").toISOString();
  const to = dayjs(at).add(1, "millisecond").toISOString();
  const isOfLog = kind !== "event" && type !== "session_live";
  return (
    <>
      {flow_id && (
        <Anchor component={Link} size="xs" href={pathOf(`sign-ins/${flow_id}`)}>
          {words.user.flow}
        </Anchor>
      )}
      {isOfLog && (
        <Anchor
          component={Link}
          size="xs"
          href={pathOf(`audit-log?${new URLSearchParams({ type, from, to })}`)}
        >
          {words.user.entry}
        </Anchor>
      )}
    </>
  );
}

function Details({ happening: { type, details } }: { happening: Happening }) {
  const members = Object.entries(details).filter(([name]) => name !== "flow");
  if (members.length === 0) return null;
  return (
    <details>
      <Text component="summary" size="xs" c="dimmed" style={{ cursor: "pointer" }}>
        {words.user.details}: {type}
      </Text>
      <Stack gap={2} mt={4}>
        {members.map(([name, value]) => (
          <Text key={name} size="xs" style={{ overflowWrap: "anywhere" }}>
            <Code>{name}</Code> {typeof value === "string" ? value : JSON.stringify(value)}
          </Text>
        ))}
      </Stack>
    </details>
  );
}
