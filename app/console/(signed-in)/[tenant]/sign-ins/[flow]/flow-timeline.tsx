"use client";

import { Badge, Code, Group, List, Progress, Stack, Text, Timeline, UnstyledButton } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { duration } from "../../../../_parts/duration.ts";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { LongName } from "../../../../_parts/long-name.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { spoken } from "../../../../_parts/protocol-name.ts";
import { Sentence } from "../../../../_parts/sentence.tsx";
import { words } from "../../../../_words.ts";
import { errorSentence } from "./flow-ending.ts";
import { type DeclaredGraph, type Flow, isPerformed, offeredActions, type Step } from "./flow-path.ts";

/** The id of the element of a step, for links. */
export const stepAnchor = (index: number) => `step-${index + 1}`;

const titleId = (index: number) => `${stepAnchor(index)}-title`;

/** Where the arrow keys lead to from a step. */
const keys: Partial<Record<string, (index: number, last: number) => number>> = {
  ArrowDown: (index, last) => Math.min(last, index + 1),
  ArrowUp: (index) => Math.max(0, index - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** The steps of a flow, oldest first. One of them is chosen, with the arrow keys too. */
export function FlowTimeline({
  flow,
  declared,
  chosen,
  onChoose,
}: {
  flow: Flow;
  declared: DeclaredGraph | undefined;
  /** The index of a step. */
  chosen: number;
  onChoose(index: number): void;
}) {
  const last = flow.path.length - 1;
  const slowest = Math.max(1, ...flow.path.map(({ milliseconds }) => milliseconds.total));
  return (
    <Timeline bulletSize={24} lineWidth={2} active={flow.path.length}>
      {flow.path.map((step, index) => (
        <Timeline.Item
          key={`${step.at} ${step.request_id}`}
          id={stepAnchor(index)}
          color={isPerformed(step) ? "teal" : "red"}
          bullet={isPerformed(step) ? <IconCheck size={14} /> : <IconX size={14} />}
          title={
            <UnstyledButton
              id={titleId(index)}
              className="step-title"
              aria-current={index === chosen ? "step" : undefined}
              // One stop of the tab key: the arrows go on from there.
              tabIndex={index === chosen ? 0 : -1}
              onClick={() => onChoose(index)}
              onKeyDown={(event) => {
                const next = keys[event.key]?.(index, last);
                if (next === undefined) return;
                event.preventDefault();
                onChoose(next);
                document.getElementById(titleId(next))?.focus();
              }}
            >
              {titleOf(step)}
            </UnstyledButton>
          }
          style={{ scrollMarginTop: 72 }}
        >
          <StepDetails
            step={step}
            type={flow.type}
            slowest={slowest}
            declared={declared}
            isLast={index === flow.path.length - 1}
          />
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

function titleOf({ action, from, state }: Step): string {
  const what = action === null ? words.flow.start : spoken(action);
  const where = from === null ? what : `${spoken(from)}: ${what}`;
  return state === null || state === from ? where : `${where} → ${spoken(state)}`;
}

function StepDetails({
  step,
  type,
  slowest,
  declared,
  isLast,
}: {
  step: Step;
  type: string;
  slowest: number;
  declared: DeclaredGraph | undefined;
  isLast: boolean;
}) {
  const { verdict, error, client, inputs } = step;
  const verdicts: Partial<Record<string, string>> = words.flow.verdicts;
  return (
    <Stack gap={6} mt={4} style={{ overflowWrap: "anywhere" }}>
      <Group gap="xs">
        <Badge variant="light" color={isPerformed(step) ? "teal" : "red"} tt="none" fw={500} radius="sm">
          {verdicts[verdict] ?? verdict}
        </Badge>
        <Moment at={step.at} />
        {step.shown_for_ms !== null && (
          <Text size="sm" c="dimmed">
            {words.flow.shownFor(duration(step.shown_for_ms))}
          </Text>
        )}
      </Group>
      {step.reason !== null && <Text size="sm">{words.flow.reason(step.reason.sentence)}</Text>}
      {error !== null && (
        <Text size="sm" {...(step.reason === null ? {} : { c: "dimmed" })}>
          {errorSentence(error, inputs)}
        </Text>
      )}
      <StepTime step={step} slowest={slowest} />
      {inputs.length > 0 && (
        <Text size="sm">
          {words.flow.inputs}:{" "}
          {inputs.map(({ name, kind, length }, index) => (
            <span key={name}>
              {index > 0 && ", "}
              <Code>
                <LongName name={name} />
              </Code>{" "}
              {words.flow.input(kind, length)}
            </span>
          ))}
        </Text>
      )}
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {[
            [client.browser, client.platform].filter(Boolean).join(" · ") || words.flow.unknownClient,
            embeddingOf(client.embedding),
            step.source,
          ].join(" · ")}
        </Text>
        <Text size="xs" c="dimmed">
          {words.flow.request}
        </Text>
        <Identifier value={step.request_id} shortened />
      </Group>
      {client.capabilities !== null && (
        <Text size="xs" c="dimmed">
          {words.flow.capabilities(client.capabilities.map(spoken))}
        </Text>
      )}
      {step.state !== null && (
        <Offered step={step} type={type} declared={declared} isOpen={isLast} state={step.state} />
      )}
    </Stack>
  );
}

const embeddingOf = (embedding: string): string =>
  (words.embeddings as Partial<Record<string, string>>)[embedding] ?? embedding;

const parts = [
  { name: "database", colour: "indigo.6" },
  { name: "hash", colour: "grape.6" },
  { name: "provider", colour: "orange.6" },
  { name: "rest", colour: "gray.5" },
] as const;

/** The time of a step by what it has waited for, beside that of the slowest step. */
function StepTime({ step: { milliseconds, statements }, slowest }: { step: Step; slowest: number }) {
  const spent = parts.filter(({ name }) => milliseconds[name] >= 0.5);
  return (
    <Stack gap={2}>
      <Progress.Root size="sm" maw={480} aria-hidden>
        {spent.map(({ name, colour }) => (
          <Progress.Section
            key={name}
            value={(milliseconds[name] / slowest) * 100}
            color={colour}
            aria-hidden
            withAria={false}
          />
        ))}
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {words.flow.time(
          duration(milliseconds.total),
          spent.map(({ name }) => `${words.flow.parts[name]} ${duration(milliseconds[name])}`),
          statements,
        )}
      </Text>
    </Stack>
  );
}

/** What the state after a step has offered, and why the rest was not. */
function Offered({
  step,
  type,
  state,
  declared,
  isOpen,
}: {
  step: Step;
  type: string;
  state: string;
  declared: DeclaredGraph | undefined;
  isOpen: boolean;
}) {
  const { actions, states } = step.not_offered;
  const offered = declared ? offeredActions(step, type, declared) : [];
  if (offered.length + actions.length + states.length === 0) return null;
  return (
    <details open={isOpen}>
      <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
        {words.flow.offered(spoken(state), offered.length, actions.length, states.length)}
      </Text>
      <Stack gap="xs" mt="xs" ps="md">
        {offered.length > 0 && (
          <Group gap={6}>
            <Text size="sm" fw={500}>
              {words.flow.offeredActions}
            </Text>
            {offered.map((name) => (
              <Badge key={name} variant="default" tt="none" fw={400} radius="sm">
                {spoken(name)}
              </Badge>
            ))}
          </Group>
        )}
        <Withheld title={words.flow.notOffered} items={actions} />
        <Withheld title={words.flow.passedOver} items={states} />
      </Stack>
    </details>
  );
}

function Withheld({ title, items }: { title: string; items: Step["not_offered"]["actions"] }) {
  if (items.length === 0) return null;
  return (
    <Stack gap={2}>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <List size="sm" spacing={2}>
        {items.map(({ name, reasons }) => (
          <List.Item key={name}>
            <Text span size="sm" fw={500}>
              {spoken(name)}:
            </Text>{" "}
            <Text span size="sm">
              <Sentence text={reasons.map(({ sentence }) => sentence).join(" ")} />
            </Text>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
