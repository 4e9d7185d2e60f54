/**
 * The order in which artifacts are locked that end together, as SQL: what a grant has issued before the grant, as a redemption
 * locks what it uses and then the grant. Another order would close a circle with it.
 */
export const LOCK_ORDER = "kind = 'Grant', kind, id_hash";
