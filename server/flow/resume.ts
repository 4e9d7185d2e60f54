import { verifiedIdentifiers } from "../identity/identifiers.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Runtime } from "../runtime.ts";
import type { FlowRecord, ResumeHashes } from "./data.ts";
import { createdMethods } from "./facts.ts";
import type { FlowKey } from "./store.ts";

/**
 * Derives the resume secret of the next answer. The same predecessor has the same successor, so tabs that share a
 * cookie, and repetitions of a lost answer, all obtain the current secret. Only this service can derive it. A successor
 * that a server with the keys in another order has derived stays the successor.
 *
 * @param predecessor hash of the secret that is replaced
 * @param current hash of the flow's current secret
 */
export function nextResumeSecret(
  { vault }: Pick<Runtime, "vault">,
  { tenantId, flowId }: FlowKey,
  predecessor: Buffer,
  current: Buffer,
): string {
  const macs = vault.macs("resume", tenantId, flowId, predecessor.toString("hex"));
  const [first = "", ...others] = macs.map((mac) => mac.toString("base64url"));
  return others.find((secret) => sha256(secret).equals(current)) ?? first;
}

/**
 * Returns the hashes to store with a new secret. The preceding secret remains accepted, unless the step identified the
 * person: a browser that held the flow before may be another person's.
 */
export function resumeHashes(secret: string, predecessor: Buffer, identified: boolean): ResumeHashes {
  return { current: sha256(secret), previous: identified ? null : predecessor };
}

/**
 * Whether a step has identified the person: by a factor, each further one included, by a verified address or number or an
 * identity provider, or, in a registration without any of these, by its first credential or its end.
 */
export function identifiesPerson(before: FlowRecord, after: FlowRecord): boolean {
  if (after.data.factors.length > before.data.factors.length) return true;
  return !isIdentified(before) && (isIdentified(after) || after.state === "success");
}

function isIdentified({ data }: FlowRecord): boolean {
  return (
    data.factors.length > 0 ||
    verifiedIdentifiers.some(({ verified }) => data[verified] === true) ||
    data.signedUp !== undefined ||
    createdMethods(data).length > 0
  );
}
