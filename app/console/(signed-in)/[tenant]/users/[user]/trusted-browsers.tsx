"use client";

import { Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Failure } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

/** Browsers that skip the second factor of the user. */
export function TrustedBrowsers({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { data, error, refetch } = useQuery(trpc.listUserTrustedBrowsers.queryOptions({ tenant, id }));
  const end = useChange(trpc.deleteUserTrustedBrowser.mutationOptions(), words.user.trustEnded);
  const endAll = useChange(trpc.deleteUserTrustedBrowsers.mutationOptions(), words.user.trustEnded);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Panel
      title={words.user.trusted}
      sentence={words.user.trustedSentence}
      action={
        data &&
        data.length > 1 &&
        may("deleteUserTrustedBrowsers") && (
          <ConfirmedButton
            compact
            label={words.user.endTrustAll}
            title={words.user.endTrustAllQuestion}
            loading={endAll.isPending}
            onConfirm={() => endAll.mutateAsync({ tenant, id })}
          >
            {words.user.endTrustAllConsequence}
          </ConfirmedButton>
        )
      }
    >
      {!data && <Skeleton height={24} />}
      {data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {words.user.noTrusted}
        </Text>
      )}
      {data && data.length > 0 && (
        <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {data.map(({ id: browser_id, last_used_at, expires_at }) => (
            <Group key={browser_id} component="li" justify="space-between" gap="sm">
              <Group gap={4}>
                <Text size="sm">{words.user.trustedBrowser}</Text>
                <Text size="sm" c="dimmed">
                  · {words.user.lastUsed}
                </Text>
                <Moment at={last_used_at} />
                <Text size="sm" c="dimmed">
                  · {words.user.expires}
                </Text>
                <Moment at={expires_at} />
              </Group>
              {may("deleteUserTrustedBrowser") && (
                <ConfirmedButton
                  compact
                  label={words.user.endTrust}
                  about={browser_id}
                  title={words.user.endTrustQuestion}
                  loading={end.isPending}
                  onConfirm={() => end.mutateAsync({ tenant, id, browser_id })}
                >
                  {words.user.endTrustConsequence}
                </ConfirmedButton>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Panel>
  );
}
