"use client";

import { AppShell, Box, Burger, Group, ScrollArea, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { usePathname } from "next/navigation";
import { type ReactNode, useEffect } from "react";
import { CONTENT, focusContent } from "../_parts/focus.tsx";
import { words } from "../_words.ts";
import { AccountMenu } from "./account-menu.tsx";
import { FLOATING } from "./appearance.tsx";
import { Navigation } from "./navigation.tsx";
import { Palette, PaletteButton } from "./palette.tsx";
import { TenantChoice } from "./tenant-choice.tsx";

/** The page that had the focus. It outlives the shell, which another tenant replaces. */
let shownPath: string | null = null;

/** What stands around every page of a tenant: navigation, search, the tenant and the account. */
export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const path = usePathname();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the navigation of a phone closes when another page is shown
  useEffect(close, [path]);
  useEffect(() => {
    if (shownPath !== null && shownPath !== path) focusContent();
    shownPath = path;
  }, [path]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a href={`#${CONTENT}`} className="skip-link">
        {words.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" style={{ minWidth: 0 }}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={words.navigation}
              aria-expanded={isOpen}
            />
            <Text fw={600} visibleFrom="xs">
              Stile
            </Text>
            <TenantChoice />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PaletteButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={words.navigation}>
        <ScrollArea type="auto">
          <Navigation />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id={CONTENT} tabIndex={-1}>
        <Box maw={1280} mx="auto">
          <Stack gap="lg">{children}</Stack>
        </Box>
        <div id={FLOATING} />
      </AppShell.Main>
      <Palette />
    </AppShell>
  );
}
