import { randomUUID } from "node:crypto";
import getTlsOptions from "smtp-server/lib/tls-options";
import { afterEach, describe, expect, test } from "vitest";
import { PermanentFailure } from "../jobs/job-kind.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { createSmtpTransport } from "./smtp-transport.ts";
import type { MailTransport, OutgoingMail } from "./transport.ts";

/** Offers STARTTLS with smtp-server's own test certificate. */
const { key, cert } = getTlsOptions();
const selfSigned = { key, cert, disabledCommands: [] };

let smtp: SmtpCatcher;
let transport: MailTransport | undefined;

const from = { name: "Northwind", address: "noreply@northwind.example" };

const mail = (changes: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: randomUUID(),
  to: "anna@example.com",
  language: "de",
  subject: "048213 ist Ihr Anmeldecode",
  text: "048213\n",
  html: "<p>048213</p>",
  ...changes,
});

const send = (changes: Partial<OutgoingMail> = {}, url = smtp.url, sender = from) => {
  transport = createSmtpTransport(url, sender);
  return transport.send(mail(changes), AbortSignal.timeout(10_000));
};

afterEach(async () => {
  transport?.close();
  await smtp.close();
});

describe("a sent mail", () => {
  test("has both texts, its language, its identifier, and is marked as automatic", async () => {
    smtp = await startSmtp();
    const id = randomUUID();
    await send({ id });
    const received = await smtp.waitFor("anna@example.com");
    expect(received).toMatchObject({
      subject: "048213 ist Ihr Anmeldecode",
      text: "048213\n",
      html: "<p>048213</p>",
      messageId: `<${id}@northwind.example>`,
      from: { value: [from] },
      to: { value: [{ address: "anna@example.com" }] },
    });
    expect(received.headers.get("content-language")).toBe("de");
    expect(received.headers.get("auto-submitted")).toBe("auto-generated");
  });

  test("A88 has no headers or recipients from names and subjects", async () => {
    smtp = await startSmtp();
    const hostile = "x\r\nBcc: thief@evil.example\r\n\r\nbody";
    await send({ subject: hostile }, smtp.url, {
      name: `${hostile}" <thief@evil.example>,`,
      address: from.address,
    });
    const received = await smtp.waitFor("anna@example.com");
    expect(received.bcc).toBeUndefined();
    expect(received.from?.value).toHaveLength(1);
    expect(received.from?.value[0]?.address).toBe(from.address);
    expect(received.text).toBe("048213\n");
    expect(smtp.messages).toHaveLength(1);
  });

  test.each([
    "a@evil.example,b@victim.example",
    '"a@evil.example x"@victim.example',
    "<a@example.com>",
    "a(c)@example.com",
    "a@b@example.com",
    "a@example.com\r\nBcc: x@evil.example",
    "group: a@example.com;",
    "a b@example.com",
    `${"a".repeat(250)}@example.com`,
    "",
  ])("A9 is not sent to %j", async (to) => {
    smtp = await startSmtp();
    await expect(send({ to })).rejects.toThrow(PermanentFailure);
    expect(smtp.messages).toEqual([]);
  });
});

describe("a rejection by the server", () => {
  test("A117 is permanent with 5yz, and its message does not repeat the reply", async () => {
    smtp = await startSmtp({ reply: () => 552 });
    const rejected = send();
    await expect(rejected).rejects.toThrow(PermanentFailure);
    await expect(rejected).rejects.toThrow(/^the mail server rejected it: 552 to DATA$/);
  });

  test("A117 may be retried with 4yz", async () => {
    smtp = await startSmtp({ reply: () => 450 });
    const rejected = send();
    await expect(rejected).rejects.toMatchObject({ responseCode: 450 });
    await expect(rejected).rejects.not.toThrow(PermanentFailure);
  });

  test("A117 may be retried with 530, which requires a login", async () => {
    smtp = await startSmtp({ reply: () => 530 });
    const rejected = send();
    await expect(rejected).rejects.toMatchObject({ responseCode: 530 });
    await expect(rejected).rejects.not.toThrow(PermanentFailure);
  });

  test("A117 may be retried if it concerns the password, which can be corrected", async () => {
    smtp = await startSmtp({
      options: {
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: (_auth, _session, callback) =>
          callback(Object.assign(new Error("wrong password"), { responseCode: 535 }), {}),
      },
    });
    const rejected = send({}, smtp.url.replace("smtp://", "smtp://user:wrong@"));
    await expect(rejected).rejects.toMatchObject({ code: "EAUTH", responseCode: 535 });
    await expect(rejected).rejects.not.toThrow(PermanentFailure);
  });
});

describe("the connection", () => {
  test("rejects an untrusted certificate", async () => {
    smtp = await startSmtp({ options: selfSigned });
    await expect(send()).rejects.toThrow(/certificate/);
    await expect(send({}, smtp.url.replace("smtp:", "smtps:"))).rejects.toThrow();
    expect(smtp.messages).toEqual([]);
  });

  test("rejects a malformed address with one line that does not repeat it", async () => {
    smtp = await startSmtp();
    for (const url of ["smtp://user:pa#ss@example.com", "smtp://", "smtp://:587"]) {
      expect(() => createSmtpTransport(url, from)).toThrow(/^SMTP_URL cannot be read; [^@]*$/);
    }
  });

  test("accepts an untrusted certificate if the address allows it", async () => {
    smtp = await startSmtp({ options: selfSigned });
    await send({}, `${smtp.url}?ignoreTLS=true`);
    expect(smtp.messages).toHaveLength(1);
  });

  test("sends no credentials in the clear to another machine", async () => {
    smtp = await startSmtp({ options: { authOptional: true, allowInsecureAuth: true } });
    // A name for this machine that does not look local.
    const url = smtp.url.replace("smtp://127.0.0.1", "smtp://user:secret@127.1");
    expect(new URL(url).hostname).toBe("127.1");
    await expect(send({}, url)).rejects.toMatchObject({ code: "ETLS" });
    expect(smtp.messages).toEqual([]);
  });

  test("A117 is closed after the time limit if the server does not reply", async () => {
    smtp = await startSmtp({ reply: () => new Promise(() => {}) });
    transport = createSmtpTransport(smtp.url, from);
    await expect(transport.send(mail(), AbortSignal.timeout(300))).rejects.toThrow();
  });
});
