import { expect, type Page } from "@playwright/test";

/** SMS in the local mailbox, which keeps them where no service of SMS is configured. */

interface KeptSms {
  text: string;
}

async function keptFor(page: Page, number: string): Promise<KeptSms[]> {
  const response = await page.request.get(`/dev/mailbox?to=${encodeURIComponent(number)}`, {
    headers: { accept: "application/json" },
  });
  return (await response.json()) as KeptSms[];
}

/**
 * Returns the code of the newest SMS to a number, once there are more than `before`.
 *
 * @param host that of the page: the last line of an SMS binds the code to it (WebOTP)
 */
export async function codeBySms(page: Page, number: string, before: number, host: string): Promise<string> {
  await expect.poll(async () => (await keptFor(page, number)).length).toBeGreaterThan(before);
  const [newest] = await keptFor(page, number);
  const [, code = ""] = /^(\d{6}) /.exec(newest?.text ?? "") ?? [];
  expect(newest?.text.split("\n").at(-1)).toBe(`@${host} #${code}`);
  return code;
}

export const countSms = async (page: Page, number: string) => (await keptFor(page, number)).length;

/** A mobile number in Germany, which is allowed in tests of SMS. */
export const newNumber = () => `+491511${String(Math.floor(Math.random() * 10_000_000)).padStart(7, "0")}`;
