"use client";

import { Group, Skeleton, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty, Failure, isMissing } from "../../../../_parts/answers.tsx";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { useSearchState } from "../../../../_parts/search-state.ts";
import { userName } from "../../../../_parts/user-name.ts";
import { UserStatus } from "../../../../_parts/user-status.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Applications } from "./applications.tsx";
import { ConsoleRoleBadge } from "./console-role.tsx";
import { Profile } from "./profile.tsx";
import { Sessions } from "./sessions.tsx";
import { SignIn } from "./sign-in.tsx";
import { Timeline } from "./timeline.tsx";
import { UserActions } from "./user-actions.tsx";

type TabName = keyof typeof words.user.tabs;

const tabNames = Object.keys(words.user.tabs) as TabName[];

/** What is known of a user, and what can be done about it. The tab is in the address. */
export function User({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const [value, change] = useSearchState();
  const { data: user, error, refetch } = useQuery(trpc.getUser.queryOptions({ tenant, id }));
  const needs = {
    profile: "getUser",
    sign_in: "listUserLoginMethods",
    sessions: "listUserSessions",
    applications: "listUserApplications",
    timeline: "getUserTimeline",
  } as const satisfies Record<TabName, string>;
  const shown = tabNames.filter((name) => may(needs[name]));
  const tab = shown.find((name) => name === value("tab")) ?? "profile";
  const tabs = useRef<HTMLDivElement>(null);
  const isKnown = user !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone the chosen tab may be out of sight
  useEffect(() => {
    const chosen = tabs.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (chosen) tabs.current?.scrollTo({ left: chosen.offsetLeft - chosen.offsetWidth });
  }, [tab, isKnown]);
  const toAll = <BackLink to="users" label={words.pages.users} />;
  if (isMissing(error))
    return (
      <>
        {toAll}
        <PageHead title={words.user.title} />
        <Empty title={words.user.missing} sentence={words.user.missingSentence} />
      </>
    );
  if (error && !user)
    return (
      <>
        {toAll}
        <PageHead title={words.user.title} />
        <Failure error={error} retry={() => void refetch()} />
      </>
    );
  return (
    <>
      {toAll}
      <PageHead
        title={user ? userName(user) : <Skeleton height={32} width={260} />}
        sentence={
          <Group gap="xs" mih={26}>
            <Identifier value={id} />
            {user && <UserStatus user={user} />}
            <ConsoleRoleBadge id={id} />
          </Group>
        }
      >
        {user && <UserActions user={user} />}
      </PageHead>
      <Tabs
        value={tab}
        onChange={(name) => change({ tab: name === "profile" ? "" : (name ?? ""), kind: "" })}
        keepMounted={false}
      >
        <Tabs.List ref={tabs} aria-label={words.user.tabList}>
          {shown.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words.user.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="profile" pt="md">
          {user ? <Profile user={user} /> : <Skeleton height={400} />}
        </Tabs.Panel>
        <Tabs.Panel value="sign_in" pt="md">
          {user ? <SignIn user={user} /> : <Skeleton height={400} />}
        </Tabs.Panel>
        <Tabs.Panel value="sessions" pt="md">
          <Sessions id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="applications" pt="md">
          <Applications id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="timeline" pt="md">
          <Timeline id={id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
