/** Bounds of uploaded files of users. The console reads them too. */

/**
 * Bytes of a file: some 35 000 users, which one attempt of the job checks on a busy machine. A longer one is imported by
 * `stile users import`, which reads it as a stream.
 */
export const MAX_IMPORT_BYTES = 4_194_304;

/** Characters of a piece. */
export const MAX_PIECE_CHARACTERS = 1_000_000;
