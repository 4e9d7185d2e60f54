import { randomUUID } from "node:crypto";
import type { ParsedMail } from "mailparser";
import { expect, test } from "vitest";
import { flowClient } from "../../testing/flow-client.ts";
import { openForTests } from "../../testing/open-for-tests.ts";
import { startService } from "../../testing/service.ts";
import { startSmtp } from "../../testing/smtp.ts";

/** The sender's name is hostile, so that every mail of this test is one of A88, too. */
const service = '"Ada" <b>Ltd</b>, Co.';

const smtp = await openForTests(startSmtp());
const running = await openForTests(
  startService({
    SMTP_URL: smtp.url,
    STILE_SERVICE_NAME: service,
    STILE_RATE_LIMITER_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
  }),
);

const wholeHtml = (mail: ParsedMail) => String(mail.html);

/** Registers with a code by mail and a password, and signs in again with a code; returns the mails of both codes. */
async function codesOf(language: string | undefined): Promise<[ParsedMail, ParsedMail]> {
  const email = `${randomUUID()}@example.com`;
  const options = language === undefined ? {} : { language };
  const registration = flowClient(running.server.url, options);
  await registration.start("registration");
  await registration.act("register_client_capabilities", {});
  await registration.act("register_login_identifier", { email });
  const first = await smtp.waitFor(email);
  await registration.act("verify_passcode", { code: await smtp.codeFor(email) });
  await registration.act("register_password", { new_password: "seven herons over the lake" });
  expect(registration.state.name).toBe("success");
  const login = flowClient(running.server.url);
  const since = smtp.messages.length;
  await login.start("login");
  await login.act("register_client_capabilities", {});
  await login.act("continue_with_login_identifier", { email });
  await login.act("continue_to_passcode_confirmation");
  const second = await smtp.waitFor(email, since);
  await login.act("verify_passcode", { code: await smtp.codeFor(email, since) });
  expect(login.state.name).toBe("success");
  return [first, second];
}

test.each([
  ["de", "de", "Bestätigungscode", "Anmeldecode"],
  ["en", "en", "confirmation code", "sign-in code"],
  ["fr", "fr", "code de confirmation", "code de connexion"],
  ["it", "it", "codice di conferma", "codice di accesso"],
  ["nl", "nl", "bevestigingscode", "inlogcode"],
  ["pt-BR", "pt-BR", "código de confirmação", "código para entrar"],
  ["bn", "bn", "নিশ্চিতকরণ কোড", "সাইন ইন কোড"],
  ["zh", "zh", "确认验证码", "登录验证码"],
  ["zh-CN", "zh", "确认验证码", "登录验证码"],
  ["pt", "pt-BR", "código de confirmação", "código para entrar"],
  ["undefined", "en", "confirmation code", "sign-in code"],
  [undefined, "en", "confirmation code", "sign-in code"],
])(
  "A88 X-Language %s sends mails in %s, and the next sign-in without the header keeps the language",
  async (header, language, confirmation, signIn) => {
    const [first, second] = await codesOf(header);
    expect(first.subject).toContain(confirmation);
    expect(second.subject).toContain(signIn);
    for (const mail of [first, second]) {
      expect(mail.headers.get("content-language")).toBe(language);
      expect(wholeHtml(mail)).toContain(`<html lang="${language}" dir="ltr">`);
      expect(mail.from?.value).toHaveLength(1);
      expect(mail.from?.value[0]?.name).toBe(service);
      expect(mail.bcc).toBeUndefined();
      expect(mail.subject).toContain(service);
      expect(wholeHtml(mail)).not.toContain("<b>Ltd");
      const [code = ""] = /\d{6}/.exec(mail.subject ?? "") ?? [];
      // Copied from either text, the code is six digits without spaces.
      expect(mail.text).toMatch(new RegExp(`^ *${code}$`, "m"));
      expect(wholeHtml(mail)).toContain(`>${code}</p>`);
    }
  },
);
