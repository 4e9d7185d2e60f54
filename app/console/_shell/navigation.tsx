"use client";

import { Divider, NavLink, Stack } from "@mantine/core";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { Fragment } from "react";
import { useMay, usePagePath } from "./me.tsx";
import { pageGroups } from "./pages.tsx";

/** The pages that the role of the account may see. */
export function Navigation() {
  const path = usePathname();
  const pathOf = usePagePath();
  const may = useMay();
  const groups = pageGroups.map((pages) => pages.filter(({ needs }) => may(needs)));
  return (
    <Stack gap={2}>
      {groups
        .filter((pages) => pages.length > 0)
        .map((pages, index) => (
          <Fragment key={pages[0]?.path}>
            {index > 0 && <Divider my={6} />}
            {pages.map(({ path: below, label, icon: Icon }) => {
              const href = pathOf(below);
              const isActive = below === "" ? path === href : path === href || path.startsWith(`${href}/`);
              return (
                <NavLink
                  key={below}
                  component={Link}
                  href={href}
                  label={label}
                  leftSection={<Icon size={18} stroke={1.6} />}
                  active={isActive}
                  aria-current={isActive ? "page" : undefined}
                  style={{ borderRadius: "var(--mantine-radius-md)" }}
                />
              );
            })}
          </Fragment>
        ))}
    </Stack>
  );
}
