import { type Adapter, errors } from "oidc-provider";
import { clockText } from "#db/clock";
import { queryPrepared } from "#db/prepared";
import { createWindowCounts } from "../limits/window-counts.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { identifierHash } from "./identifier-hash.ts";
import type { ArtifactRow } from "./read-ahead.ts";

/** How often a device asks for its tokens while its user has not answered (RFC 8628, 3.5). */

const KIND = "DeviceCode";

/** The pause between two requests, where none is told (3.2). */
const POLL_SECONDS = 5;

/** Added with each `slow_down`. */
const SLOWER_SECONDS = 5;

/** A longer pause is asked of no device, however many of its requests came too soon. */
const MAX_POLL_SECONDS = 60;

/**
 * So many requests of a device in a minute are looked at. One that keeps its pause makes fifteen at most; more say nothing that
 * the pause, which has grown to its end by then, does not say already.
 */
const MAX_POLLS_PER_MINUTE = 20;

/** A request that comes this much too soon was held up less by the network than the one before it. */
const TOLERANCE_SECONDS = 1;

/**
 * Stores the codes of devices. Reading one is how a device asks for its tokens, and the same statement notes when: several
 * requests at once are judged one after the other.
 */
export function deviceCodeStorage(context: Parameters<typeof artifactStorage>[0]): Adapter {
  const { runtime, tenant } = context;
  const stored = artifactStorage(context, KIND);
  const polls = createWindowCounts(60, () => Date.now() + runtime.platform.clockShift());
  return {
    ...stored,
    /**
     * @throws SlowDown if the device has asked too soon, and its user has not answered; or far too often, whatever its user has
     *   done
     */
    async find(id) {
      if (polls.count(identifierHash(id)).count > MAX_POLLS_PER_MINUTE) throw new errors.SlowDown();
      const [row] = await queryPrepared<ArtifactRow & { is_too_soon: boolean }, "claim">(
        runtime.database,
        "claim",
        {
          name: "openid_poll",
          text: pollText,
          values: [tenant.id, identifierHash(id), runtime.platform.clockShift()],
        },
      );
      if (row?.is_too_soon) throw new errors.SlowDown();
      return row && stored.found(id, row);
    },
  };
}

/** The device counts from the answer to its last request, also one that came too soon. */
const pollText = `
  with polled as (
    select id_hash, moment, coalesce(poll_seconds, ${POLL_SECONDS}) as pause,
      coalesce(
        answer is null and consumed_at is null and expires_at > moment
          and polled_at + (coalesce(poll_seconds, ${POLL_SECONDS}) - ${TOLERANCE_SECONDS}) * interval '1 second' > moment,
        false) as is_too_soon
    from openid_artifacts, (select ${clockText("$3")} as moment) clock
    where tenant_id = $1 and kind = '${KIND}' and id_hash = $2
    for update of openid_artifacts)
  update openid_artifacts artifact set polled_at = moment,
    poll_seconds = case when is_too_soon then least(pause + ${SLOWER_SECONDS}, ${MAX_POLL_SECONDS}) else artifact.poll_seconds end
  from polled
  where artifact.tenant_id = $1 and artifact.kind = '${KIND}' and artifact.id_hash = polled.id_hash
  returning payload, consumed_at, session_id, answer, is_too_soon`;
