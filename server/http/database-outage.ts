/**
 * SQLSTATE classes 08 (connection), 53 (resources) and 57P (operator intervention), and what the operating system
 * says when nobody listens.
 */
const unreachable = /^(08|53|57P|ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/;

/** The pool's own words, which carry no code. */
const unreachableWords = /^(Connection terminated|timeout exceeded when trying to connect)/;

/**
 * Whether something failed because the database could not be reached, which passes by itself.
 *
 * @param thrown anything; causes are looked at too
 */
export function isDatabaseUnreachable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  return (
    unreachable.test(code) || unreachableWords.test(thrown.message) || isDatabaseUnreachable(thrown.cause)
  );
}
