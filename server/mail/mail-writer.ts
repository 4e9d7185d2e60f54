import { createTranslator } from "use-intl/core";
import type { Language } from "../lib/languages.ts";
import { type Block, htmlLayout, textLayout } from "./layout.ts";
import type { NoticeMail, PasscodeMail, SecurityMail } from "./mail-job.ts";
import { mailWords } from "./messages/languages.ts";
import type { MailWords } from "./messages/words.ts";
import { oneLine } from "./one-line.ts";
import type { RenderedMail } from "./transport.ts";

type Translator = ReturnType<typeof createTranslator<MailWords>>;

/**
 * What a mail is about. Of what a visitor typed nothing is part of it but addresses of the account in canonical form,
 * so nothing else can be echoed.
 */
export type MailContent =
  | { type: PasscodeMail; code: string; ttlSeconds: number }
  | { type: NoticeMail }
  | SecurityMail;

export type MailWriter = (content: MailContent, asked: Language) => RenderedMail;

/**
 * Makes the function that puts mails into words.
 *
 * @param service name of the service, as people know it
 * @param host where they reach it; from the configuration, never from a request
 */
export function createMailWriter({ service, host }: { service: string; host: string }): MailWriter {
  const translators = new Map<Language, Translator>();
  const names = { service: oneLine(service), host };

  function translatorFor(language: Language, words: MailWords): Translator {
    const known = translators.get(language);
    if (known) return known;
    const made = createTranslator({
      locale: language,
      messages: words,
      onError(error) {
        throw error;
      },
    });
    translators.set(language, made);
    return made;
  }

  return (content, asked) => {
    const { language, words } = mailWords(asked);
    const translate = translatorFor(language, words);
    const { subject, preview, blocks } = draftOf(translate, content, names);
    const page = {
      language,
      title: subject,
      sender: names.service,
      preview,
      blocks,
      footer: translate("automatic", names),
    };
    return { language, subject: oneLine(subject), text: textLayout(page), html: htmlLayout(page) };
  };
}

interface Draft {
  subject: string;
  preview: string;
  blocks: Block[];
}

type Names = { service: string; host: string };

function draftOf(translate: Translator, content: MailContent, names: Names): Draft {
  if ("code" in content) return passcodeMail(translate, content, names);
  return isNotice(content)
    ? noticeMail(translate, content.type, names)
    : changeMail(translate, content, names);
}

function isNotice(content: { type: NoticeMail } | SecurityMail): content is { type: NoticeMail } {
  return content.type === "email_login_attempted" || content.type === "email_registration_attempted";
}

function passcodeMail(
  translate: Translator,
  { type, code, ttlSeconds }: Extract<MailContent, { code: string }>,
  names: Names,
): Draft {
  // Rounded down: a mail must not promise more than the code holds.
  const validity = translate("validity", { ...names, minutes: Math.max(1, Math.floor(ttlSeconds / 60)) });
  return {
    subject: translate(`mails.${type}.subject`, { ...names, code }),
    preview: validity,
    blocks: [
      { kind: "heading", text: translate(`mails.${type}.heading`, names) },
      { kind: "paragraph", text: translate(`mails.${type}.request`, names) },
      { kind: "code", text: code },
      { kind: "paragraph", text: `${validity} ${translate("secrecy", names)}` },
      { kind: "aside", text: translate(`mails.${type}.ignore`, names) },
    ],
  };
}

function noticeMail(translate: Translator, type: NoticeMail, names: Names): Draft {
  return {
    subject: translate(`mails.${type}.subject`, names),
    preview: translate(`mails.${type}.preview`, names),
    blocks: [
      { kind: "heading", text: translate(`mails.${type}.heading`, names) },
      { kind: "paragraph", text: translate(`mails.${type}.event`, names) },
      { kind: "paragraph", text: translate(`mails.${type}.advice`, names) },
      { kind: "aside", text: translate(`mails.${type}.ignore`, names) },
    ],
  };
}

function changeMail(translate: Translator, { type, ...details }: SecurityMail, names: Names): Draft {
  // Words about a factor have a branch for one that is not named.
  const event = translate(`changes.${type}.event`, { ...names, factor: "other", address: "", ...details });
  return {
    subject: translate(`changes.${type}.subject`, names),
    preview: event,
    blocks: [
      { kind: "heading", text: translate(`changes.${type}.heading`, names) },
      { kind: "paragraph", text: event },
      { kind: "paragraph", text: translate("unexpected", names) },
      { kind: "aside", text: translate("expected", names) },
    ],
  };
}
