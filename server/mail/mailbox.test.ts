import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { loadConfig } from "../config/load.ts";
import { mailboxPage } from "../dev/mailbox/page.ts";
import type { Runtime } from "../runtime.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { createMailboxTransport, MAILBOX_SIZE, newestMails } from "./mailbox.ts";

const db = await openForTests(testDatabase());

beforeEach(async () => {
  await db.database.write.delete(schema.mailbox);
});

const never = new AbortController().signal;

function keep(to: string, subject: string, body: { text?: string; html?: string; id?: string } = {}) {
  const { text = "text", html = "<p>html</p>", id = randomUUID() } = body;
  return createMailboxTransport(db.database).send({ id, to, language: "en", subject, text, html }, never);
}

/** The part of a runtime that the page needs. */
function page(query = "", accept: string | null = null): Promise<Response> {
  const runtime = { database: db.database, config: loadConfig({}, import.meta.dirname) } as Runtime;
  return mailboxPage(runtime, new URL(`http://localhost:3000/dev/mailbox${query}`), accept);
}

const json = "application/json";

describe("the mailbox", () => {
  test("keeps mails in development without a mail server, through the job that sends them", async () => {
    const jobs = testJobs(db);
    await jobs.start({ worker: false });
    await db.database.write.transaction((tx) =>
      jobs.enqueue(
        tx,
        {
          name: "send_mail",
          tenantId: "00000000-0000-4000-8000-000000000001",
          to: "anna@example.com",
          language: "de",
          mail: { type: "recovery", code: "048213", ttlSeconds: 300 },
        },
        null,
      ),
    );
    expect(await jobs.runDue(5)).toBe(1);
    await jobs.stop();
    expect(await newestMails(db.database.read, {})).toMatchObject([
      { recipient: "anna@example.com", subject: "048213 ist Ihr Code für ein neues Passwort bei Stile" },
    ]);
  });

  test("keeps notices of changes, through the same job", async () => {
    const jobs = testJobs(db);
    await jobs.start({ worker: false });
    const notice = {
      name: "send_mail",
      tenantId: "00000000-0000-4000-8000-000000000001",
      language: "en",
    } as const;
    await db.database.write.transaction(async (tx) => {
      const to = "anna@example.com";
      await jobs.enqueue(
        tx,
        { ...notice, to, mail: { type: "email_create", address: "new@example.com" } },
        null,
      );
      await jobs.enqueue(tx, { ...notice, to, mail: { type: "mfa_create", factor: "security_key" } }, null);
    });
    expect(await jobs.runDue(5)).toBe(2);
    await jobs.stop();
    const texts = (await newestMails(db.database.read, {})).map(({ text }) => text).join();
    expect(texts).toContain("new@example.com was added");
    expect(texts).toContain("A security key was set up");
  });

  test(`holds the newest ${MAILBOX_SIZE} mails`, async () => {
    for (let number = 1; number <= MAILBOX_SIZE + 3; number += 1)
      await keep("anna@example.com", `mail ${number}`);
    const kept = await newestMails(db.database.read, {});
    expect(kept).toHaveLength(MAILBOX_SIZE);
    expect(kept.map(({ subject }) => subject)).not.toContain("mail 3");
    expect(kept.map(({ subject }) => subject)).toContain("mail 4");
  });

  test("stores a mail once if it is sent twice", async () => {
    const id = randomUUID();
    await keep("anna@example.com", "once", { id });
    await keep("anna@example.com", "once", { id });
    expect(await newestMails(db.database.read, {})).toHaveLength(1);
  });
});

describe("the mailbox page", () => {
  test("is a list for programs, newest first, filtered by recipient and count", async () => {
    await keep("anna@example.com", "first");
    await keep("bert@example.com", "second");
    await keep("anna@example.com", "third", { text: "048213" });
    const all = await (await page("", json)).json();
    expect(all).toHaveLength(3);
    expect(all[0]).toEqual({
      to: "anna@example.com",
      subject: "third",
      text: "048213",
      html: "<p>html</p>",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const filtered = await (await page("?to=Anna@Example.com&limit=1", json)).json();
    expect(filtered).toMatchObject([{ subject: "third" }]);
  });

  test("shows the newest mail, or the one requested", async () => {
    const id = randomUUID();
    await keep("anna@example.com", "older", { id, text: "the older text" });
    await keep("bert@example.com", "newer", { text: "the newer text" });
    const newest = await (await page()).text();
    expect(newest).toContain("<h2>newer</h2>");
    expect(newest).toContain("<pre>the newer text</pre>");
    const asked = await (await page(`?mail=${id}`)).text();
    expect(asked).toContain("<h2>older</h2>");
    expect(asked).toContain(`href="?mail=${id}" aria-current="true"`);
  });

  test("shows an SMS as text alone, and finds it by its number, whose plus may stand for a space", async () => {
    await keep("anna@example.com", "a mail");
    await keep("+4915112345678", "SMS", { text: "048213 is your code\n@a.example #048213", html: "" });
    const shown = await (await page()).text();
    expect(shown).toContain("<pre>048213 is your code\n@a.example #048213</pre>");
    expect(shown).not.toContain("<iframe");
    for (const query of ["?to=%2B4915112345678", "?to=+4915112345678"])
      expect(await (await page(query, json)).json()).toMatchObject([{ to: "+4915112345678", html: "" }]);
  });

  test("handles an empty mailbox and malformed addresses", async () => {
    await expect((await page()).text()).resolves.toContain("No mail yet");
    for (const query of ["?limit=0", "?limit=x", "?mail=1", "?to=", "?to=%00", "?limit=1e99"]) {
      const answer = await page(query, json);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual([]);
    }
  });

  test("A88 never contains markup of a mail", async () => {
    await keep('"><script>alert(1)</script>@example.com', "<img src=x onerror=alert(2)>", {
      text: "</pre><script>alert(3)</script>",
      html: '"></iframe><script>alert(4)</script>',
    });
    const answer = await page("?to=%22%3E%3Cscript%3E");
    expect(await answer.text()).not.toContain('"><script>');
    const markup = await (await page()).text();
    expect(markup).not.toMatch(/<script>alert|<img/);
    expect(markup).toContain('srcdoc="&quot;&gt;&lt;/iframe&gt;&lt;script&gt;alert(4)');
    expect(markup).toMatch(/<iframe [^>]*\bsandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc=/);
  });

  test("runs no script but its own, and loads, frames and caches nothing", async () => {
    await keep("anna@example.com", "a mail");
    const { headers } = await page();
    const policy = headers.get("content-security-policy");
    expect(policy).toMatch(/default-src 'none'; script-src 'sha256-[\w+/]+=';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});
