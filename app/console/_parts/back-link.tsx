"use client";

import { Anchor } from "@mantine/core";
import { IconArrowLeft } from "@tabler/icons-react";
import Link from "next/link";
import { usePagePath } from "../_shell/me.tsx";

/** The way from the page of one thing to the list that it is in. */
export function BackLink({ to, label }: { to: string; label: string }) {
  const pathOf = usePagePath();
  return (
    <Anchor component={Link} size="sm" href={pathOf(to)}>
      <IconArrowLeft size={14} style={{ verticalAlign: "-2px" }} aria-hidden /> {label}
    </Anchor>
  );
}
