"use client";

/**
 * Downloads what an operation answers, as a file. The browser streams it to disk.
 *
 * @param tenant whose data it is
 * @param operation its name in the administration interface
 * @param input as of its procedure
 */
export function download(tenant: string, operation: string, input: object): void {
  const query = new URLSearchParams({ input: JSON.stringify({ tenant, ...input }) });
  const link = document.createElement("a");
  link.href = `/api/console/download/${operation}?${query}`;
  link.download = "";
  link.click();
}
