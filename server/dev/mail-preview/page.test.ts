import { describe, expect, test } from "vitest";
import { languageTags } from "#words/language-tags";
import { loadConfig } from "../../config/load.ts";
import { type MailMessage, mailMessages } from "../../mail/messages.ts";
import { mailPreviewPage } from "./page.ts";

const config = loadConfig({ STILE_SERVICE_NAME: "North & <South>" }, import.meta.dirname);

async function open(query = ""): Promise<{ page: string; response: Response }> {
  const response = mailPreviewPage({ config }, new URL(`http://localhost:3000/dev/mail${query}`));
  return { page: await response.text(), response };
}

const messages = Object.keys(mailMessages) as MailMessage[];

test("the table has a row for every message, and a subject in every language", async () => {
  const { page } = await open();
  for (const mail of messages)
    for (const language of languageTags)
      expect(page).toMatch(new RegExp(`<a href="\\?mail=${mail}&(amp;)?language=${language}">[^<]+</a>`));
  expect(page.match(/<td /g)).toHaveLength(messages.length * languageTags.length);
});

test.each(messages)(
  "%s is shown in every language at once, and alone in two widths with its text",
  async (mail) => {
    const { page } = await open(`?mail=${mail}`);
    expect(page.match(/<iframe class="narrow" width="320"/g)).toHaveLength(languageTags.length);
    for (const language of languageTags) {
      const alone = (await open(`?mail=${mail}&language=${language}`)).page;
      expect(alone).toMatch(/<iframe class="narrow" width="320" title="[^"]+" sandbox srcdoc="&lt;!doctype/);
      expect(alone).toMatch(/<iframe class="wide" width="640" title="[^"]+" sandbox srcdoc="&lt;!doctype/);
      expect(alone).toContain(`<pre lang="${language}">`);
    }
  },
);

test("the examples of a message can be chosen", async () => {
  expect((await open("?mail=mfa_create&language=en&variant=1")).page).toContain("A security key was set up");
  expect((await open("?mail=mfa_create&language=en")).page).toContain("An authenticator app was set up");
});

describe("the page", () => {
  test("treats unknown parameters as absent", async () => {
    const { page } = await open("?mail=__proto__&language=tlh&variant=x");
    expect(page).toContain("<thead>");
    expect((await open("?mail=login&language=xx&variant=99")).page).toContain('width="320"');
  });

  test("A88 never contains markup of a name, runs no script, and loads nothing", async () => {
    const { page, response } = await open("?mail=login&language=en");
    expect(page).not.toContain("<South>");
    expect(page).not.toContain("<script");
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src/);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});
