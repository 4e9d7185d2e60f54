import { Anchor, Button, Group } from "@mantine/core";
import type { Metadata } from "next";
import { currentRuntime } from "#server/runtime-slot";
import { Notice } from "../_shell/notice.tsx";
import { words } from "../_words.ts";

export const metadata: Metadata = { title: words.refused.title };

/** Reasons that are told before a sign-in. */
const beforeSignIn: ReadonlySet<string> = new Set(["invitation_used", "operator_exists"]);

/** Says why an account may not enter. */
export default async function Refused({ searchParams }: { searchParams: Promise<{ reason?: string }> }) {
  const { reason = "" } = await searchParams;
  const { reasons } = words.refused;
  const sentence = Object.hasOwn(reasons, reason)
    ? reasons[reason as keyof typeof reasons]
    : reasons.interrupted;
  return (
    <Notice title={words.refused.title} sentence={sentence}>
      <Group>
        <Button component="a" href="/api/console/sign-in">
          {beforeSignIn.has(reason) ? words.refused.signIn : words.refused.again}
        </Button>
        <Anchor href={`${currentRuntime().config.base_url}/account`}>{words.refused.account}</Anchor>
      </Group>
    </Notice>
  );
}
