/**
 * Reads a `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date of HTTP (5.6.7) in its preferred form.
 *
 * @returns seconds from now; null if the header is absent or cannot be read
 */
export function retryAfterSeconds(header: string | null | undefined): number | null {
  const text = header ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const time = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}
