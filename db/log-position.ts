/** How far the log of writes of a primary was (PostgreSQL manual, 28.6). */
export interface LogPosition {
  /**
   * Whose log it is: the timeline, and when the server was started. Two standbys that are promoted beside each other have
   * the same timeline.
   */
  branch: string;
  /** In bytes. */
  offset: bigint;
}

/**
 * SQL for the position of the primary that runs it, as text; null at a standby. Commits that have been answered are below it.
 * It is how far the log is on disk, since standbys get no more, unless commits do not wait for the disk.
 */
export const positionText = `case when not pg_is_in_recovery() then
  substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) || '@' || extract(epoch from pg_postmaster_start_time())
  || '/' || case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end end`;

/** Reads what the SQL above returned. */
export function positionOf(text: string | null): LogPosition | null {
  const [, branch = "", lsn = ""] = /^([\dA-F]{8}@[\d.]+)\/(.+)$/.exec(text ?? "") ?? [];
  return lsn === "" ? null : { branch, offset: offsetOf(lsn) };
}

/** The offset that PostgreSQL writes as two hexadecimal numbers, of which the first counts 4 GiB. */
export function offsetOf(lsn: string): bigint {
  const [high = "0", low = "0"] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
