/** Why a call of the administration interface changes nothing. */
export interface AdminRejection {
  ok: false;
  /** `invalid`: the request; `conflict`: the state of what it would change; `forbidden`: not with this key; `limited`: too often. */
  reason: "not_found" | "invalid" | "conflict" | "forbidden" | "limited";
  /** For developers: what is wrong and what is accepted. */
  message: string;
  /** Further members of the answer. */
  details?: Record<string, unknown>;
}

/** What a call has found or changed, or why it changes nothing. */
export type AdminVerdict<Found = unknown> = ({ ok: true } & Found) | AdminRejection;

export function rejectAdmin(
  reason: AdminRejection["reason"],
  message: string,
  details?: AdminRejection["details"],
): AdminRejection {
  return { ok: false, reason, message, ...(details ? { details } : {}) };
}

/** The tenant has no such thing, or not below this user: both are one answer. */
export const notFound = rejectAdmin("not_found", "Not found.");
