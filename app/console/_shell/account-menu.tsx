"use client";

import { ActionIcon, type MantineColorScheme, Menu, Text, useMantineColorScheme } from "@mantine/core";
import { IconDeviceDesktop, IconLogout, IconMoon, IconSun, IconUserCircle } from "@tabler/icons-react";
import { words } from "../_words.ts";
import { useMe } from "./me.tsx";

/** The account that is signed in, the colour scheme, and the sign-out. */
export function AccountMenu() {
  const { user, role, tenant } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    { value: "light", icon: <IconSun size={16} /> },
    { value: "dark", icon: <IconMoon size={16} /> },
    { value: "auto", icon: <IconDeviceDesktop size={16} /> },
  ] as const;
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={words.account.menu}>
          <IconUserCircle size={22} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text component="span" display="block" size="sm" fw={500} c="var(--mantine-color-text)" truncate>
            {user.name}
          </Text>
          <Text component="span" display="block" size="xs">
            {words.roles[role]} · {tenant.name}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>{words.account.appearance}</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(chosen) => setColorScheme(chosen as MantineColorScheme)}
        >
          {schemes.map(({ value, icon }) => (
            <Menu.RadioItem key={value} value={value} rightSection={icon}>
              {words.account.schemes[value]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

async function signOut(): Promise<void> {
  await fetch("/api/console/sign-out", { method: "POST" });
  location.assign("/console/signed-out");
}
