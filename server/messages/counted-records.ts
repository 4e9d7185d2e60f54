import { afterCommit } from "#db/after-commit";
import type { Transaction } from "#db/client";
import type { WriteOfParts } from "#db/write";
import type { Counters } from "../funnel/counters.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { ChannelName } from "./channels.ts";
import type { MessageRecords } from "./outcome.ts";

/** Counts messages that were sent and that are not sent, once their records are committed. */
export function countedRecords<Name extends ChannelName>(
  { counters, platform }: OnPlatform & { counters: Pick<Counters, "count"> },
  channel: Name,
  records: MessageRecords<Name>,
): MessageRecords<Name> {
  const counted = (tenantId: string, outcome: "sent" | "failed"): WriteOfParts => {
    const committed = () =>
      counters.count(tenantId, {
        measure: "message",
        name: channel,
        target: outcome,
        at: Date.now() + platform.clockShift(),
      });
    return Object.assign(async (tx: Transaction) => afterCommit(tx, committed), { parts: [], committed });
  };
  const failed = (record: WriteOfParts, tenantId: string): WriteOfParts =>
    both(record, counted(tenantId, "failed"));

  return {
    ...records,
    accepted: (message, ...of) => [...records.accepted(message, ...of), counted(message.tenantId, "sent")],
    givenUp: (message, end) => failed(records.givenUp(message, end), message.tenantId),
    tooMany: (message, attempt) => failed(records.tooMany(message, attempt), message.tenantId),
  };
}

/** One write of two. */
function both(one: WriteOfParts, other: WriteOfParts): WriteOfParts {
  const write = async (tx: Transaction) => {
    await one(tx);
    await other(tx);
  };
  return Object.assign(write, {
    parts: [...one.parts, ...other.parts],
    committed(returned: { [name: string]: unknown }) {
      one.committed?.(returned);
      other.committed?.(returned);
    },
  });
}
