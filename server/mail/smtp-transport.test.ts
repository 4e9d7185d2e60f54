import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import getTlsOptions from "smtp-server/lib/tls-options";
import { afterEach, describe, expect, test } from "vitest";
import { PermanentFailure } from "../jobs/job-kind.ts";
import { eventually } from "../testing/eventually.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { createSmtpTransport, NO_CONNECTION } from "./smtp-transport.ts";
import type { MailTransport, OutgoingMail } from "./transport.ts";

/** Offers STARTTLS with smtp-server's own test certificate. */
const { key, cert } = getTlsOptions();
const selfSigned = { key, cert, disabledCommands: [] };

let smtp: SmtpCatcher;
let transport: MailTransport | undefined;

const from = { name: "Northwind", address: "noreply@northwind.example" };

const mail = (changes: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: randomUUID(),
  from,
  to: "anna@example.com",
  language: "de",
  subject: "048213 ist Ihr Anmeldecode",
  text: "048213\n",
  html: "<p>048213</p>",
  ...changes,
});

const send = (changes: Partial<OutgoingMail> = {}, url = smtp.url) => {
  transport = createSmtpTransport(url);
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
    const name = `${hostile}" <thief@evil.example>,`;
    await send({ subject: hostile, from: { name, address: from.address } });
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
      expect(() => createSmtpTransport(url)).toThrow(/^SMTP_URL cannot be read; [^@]*$/);
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
    transport = createSmtpTransport(smtp.url);
    await expect(transport.send(mail(), AbortSignal.timeout(300))).rejects.toThrow();
  });

  test("is used again for later mails, and others are opened for mails beside it, five at most", async () => {
    let connections = 0;
    const held: (() => void)[] = [];
    let isHeld = false;
    smtp = await startSmtp({
      reply: () =>
        isHeld ? new Promise((resolve) => held.push(() => resolve(undefined))) : Promise.resolve(undefined),
      options: {
        onConnect(_session, callback) {
          connections += 1;
          callback();
        },
      },
    });
    transport = createSmtpTransport(smtp.url);
    const signal = AbortSignal.timeout(60_000);
    for (let sent = 0; sent < 10; sent += 1) await transport.send(mail({ id: randomUUID() }), signal);
    expect(connections).toBe(1);
    isHeld = true;
    const sending = Array.from({ length: 12 }, () => transport?.send(mail({ id: randomUUID() }), signal));
    await eventually(() => expect(held).toHaveLength(5));
    isHeld = false;
    for (const answer of held) answer();
    await Promise.all(sending);
    expect(connections).toBe(5);
    expect(smtp.messages).toHaveLength(22);
  });

  test("carries the envelope of a mail at once if the server offers PIPELINING, and else by line", async () => {
    for (const [hidePIPELINING, turns] of [
      [false, 2],
      [true, 4],
    ] as const) {
      smtp = await startSmtp({ options: { hidePIPELINING } });
      const proxy = await countTurns(smtp.url);
      transport = createSmtpTransport(proxy.url);
      await transport.send(mail({ id: randomUUID() }), AbortSignal.timeout(60_000));
      const before = proxy.turns();
      await transport.send(mail({ id: randomUUID() }), AbortSignal.timeout(60_000));
      expect(proxy.turns() - before).toBe(turns);
      transport.close();
      await proxy.close();
      if (!hidePIPELINING) await smtp.close();
    }
  });
});

describe("a mail that gets no connection", () => {
  test("A186 fails at once without being sent if too many wait, or if the server did not answer the last one", async () => {
    smtp = await startSmtp({ reply: () => new Promise(() => {}) });
    transport = createSmtpTransport(smtp.url, 1);
    const ending = new AbortController();
    const send = (signal = ending.signal) => transport?.send(mail(), signal);
    const held = Array.from({ length: 6 }, () => send());
    // Sooner than a mail that waits gives up.
    await expect(send(AbortSignal.timeout(5_000))).rejects.toMatchObject({ code: NO_CONNECTION });
    ending.abort();
    expect((await Promise.allSettled(held)).map(({ status }) => status)).toEqual(Array(6).fill("rejected"));
    const probe = send(AbortSignal.timeout(1_000));
    await expect(send(AbortSignal.timeout(60_000))).rejects.toMatchObject({ code: NO_CONNECTION });
    await expect(probe).rejects.toThrow();
    expect(smtp.messages).toEqual([]);
  });
});

/** A proxy that counts how often the client waits for an answer of the server. */
async function countTurns(url: string) {
  let turns = 0;
  const server = createServer((client) => {
    let isClientsTurn = false;
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    client.on("data", () => {
      isClientsTurn = true;
    });
    upstream.on("data", () => {
      if (isClientsTurn) turns += 1;
      isClientsTurn = false;
    });
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns: () => turns,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
