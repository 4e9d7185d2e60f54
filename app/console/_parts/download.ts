"use client";

/**
 * Downloads what an operation answers, as a file. The browser streams it to disk.
 *
 * @param tenant whose data it is
 * @param operation its name in the administration interface
 * @param input as of its procedure
 */
export function download(tenant: string, operation: string, input: object): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = `/api/console/download/${operation}`;
  form.hidden = true;
  const field = document.createElement("input");
  field.name = "input";
  field.value = JSON.stringify({ tenant, ...input });
  form.append(field);
  document.body.append(form);
  form.submit();
  form.remove();
}
