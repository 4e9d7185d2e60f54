/** Replaces NUL and lone surrogates, which PostgreSQL rejects, so that a client cannot make a write fail. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Characters of a user agent that are stored. */
const MAX_USER_AGENT_LENGTH = 512;

/** Returns what is stored of a `User-Agent` header. */
export function storableUserAgent(userAgent: string): string {
  return storable(userAgent.slice(0, MAX_USER_AGENT_LENGTH));
}
