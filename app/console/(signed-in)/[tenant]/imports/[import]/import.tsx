"use client";

import { Alert, Button, Group, List, Skeleton, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty, Failure, isMissing } from "../../../../_parts/answers.tsx";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { download } from "../../../../_parts/download.ts";
import { Facts } from "../../../../_parts/facts.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { FileDrop } from "../file-drop.tsx";
import { ImportState, isUnderWay, type UserImport } from "../import-state.tsx";
import { formName } from "../imports.tsx";
import { UploadProgress } from "../upload-progress.tsx";
import { useUpload } from "../use-upload.ts";
import { ImportProgress } from "./import-progress.tsx";
import { RefusedRecords } from "./refused-records.tsx";

/** How often the state is asked for while the service works on the file. */
const WORKING_MS = 1_000;

/** One file of users: what would become of it, how far its import is, and what was refused. */
export function Import({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    ...trpc.getImport.queryOptions({ tenant, id }),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? WORKING_MS : false),
  });
  const start = useChange(trpc.startImport.mutationOptions());
  const cancel = useChange(trpc.cancelImport.mutationOptions(), words.imports.cancelled);
  if (error && !data)
    return (
      <>
        <BackLink to="imports" label={words.pages.imports} />
        <PageHead title={words.imports.title} />
        {isMissing(error) ? (
          <Empty title={words.imports.missing} sentence={words.imports.missingSentence} />
        ) : (
          <Failure error={error} retry={() => void refetch()} />
        )}
      </>
    );
  const isOpen = data !== undefined && (isUnderWay(data) || ["uploading", "checked"].includes(data.state));
  const hasRefusals = data !== undefined && data.refused > 0 && !isUnderWay(data);
  return (
    <>
      <BackLink to="imports" label={words.pages.imports} />
      <PageHead
        title={words.imports.title}
        sentence={
          <Group gap="xs" mih={26}>
            {data && <ImportState state={data.state} />}
            {data && <Moment at={data.created_at} />}
          </Group>
        }
      >
        {hasRefusals && (
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            onClick={() => download(tenant, "listImportRefusals", { id })}
          >
            {words.imports.download}
          </Button>
        )}
        {data && isOpen && may("cancelImport") && (
          <ConfirmedButton
            label={words.imports.cancel}
            title={words.imports.cancelQuestion}
            dismiss={words.imports.keep}
            loading={cancel.isPending}
            onConfirm={() => cancel.mutateAsync({ tenant, id })}
          >
            {words.imports.cancelConsequence}
          </ConfirmedButton>
        )}
        {data?.state === "checked" && may("startImport") && (
          <ConfirmedButton
            primary
            color="indigo"
            label={words.imports.import(data.imported)}
            title={words.imports.importQuestion}
            loading={start.isPending}
            disabled={data.imported === 0}
            onConfirm={() => start.mutateAsync({ tenant, id, body: { check: false, pieces: data.pieces } })}
          >
            {words.imports.importConsequence(data.imported, data.refused)}
          </ConfirmedButton>
        )}
      </PageHead>
      {!data && <Skeleton height={220} />}
      {data?.failure && (
        <Alert color="red" icon={<IconAlertTriangle size={18} />} role="alert">
          {data.failure}
        </Alert>
      )}
      {data?.state === "uploading" && <CutOff of={data} />}
      {data && isUnderWay(data) && <ImportProgress of={data} at={dataUpdatedAt} isLost={error !== null} />}
      {data && (
        <Facts
          facts={[
            [data.check ? words.imports.wouldImport : words.imports.imported, counted(data, data.imported)],
            [data.check ? words.imports.wouldRefuse : words.imports.refused, counted(data, data.refused)],
            [words.imports.form, formName(data)],
            [words.imports.size, words.imports.bytes(data.bytes)],
            [words.imports.begun, <Moment key="begun" at={data.created_at} />],
            [words.imports.changed, <Moment key="changed" at={data.updated_at} />],
          ]}
        />
      )}
      {data && <Omitted of={data} />}
      {data && (hasRefusals || data.state === "checked") && <RefusedRecords id={id} />}
    </>
  );
}

/** A number of records. Before a check has ended there is none. */
const counted = ({ check, state, failure }: UserImport, count: number): string =>
  check && state !== "checked" && failure === null ? words.imports.notCounted : count.toLocaleString("en");

/** A file of which not all has arrived. Another window may be sending it. */
function CutOff({ of: { id, pieces } }: { of: UserImport }) {
  const may = useMay();
  const { upload, send } = useUpload(() => {});
  return (
    <Panel title={words.imports.cutOff} sentence={words.imports.cutOffSentence(pieces)}>
      {may("putImportPiece") && (
        <FileDrop
          label={words.imports.chooseAgain}
          disabled={upload !== null && upload.error === null}
          onFile={(file) => void send(file, async () => id)}
        />
      )}
      {upload && <UploadProgress upload={upload} onGoOn={() => void send(upload.file, async () => id)} />}
    </Panel>
  );
}

function Omitted({ of: { omitted } }: { of: UserImport }) {
  const fields = Object.entries(omitted);
  if (fields.length === 0) return null;
  return (
    <Panel title={words.imports.omitted}>
      <Stack gap={4}>
        <List size="sm" spacing={4}>
          {fields.map(([name, count]) => (
            <List.Item key={name}>
              <Text size="sm" span style={{ overflowWrap: "anywhere" }}>
                {words.imports.omittedOf(name, count)}
              </Text>
            </List.Item>
          ))}
        </List>
      </Stack>
    </Panel>
  );
}
