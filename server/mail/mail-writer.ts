import type { PageLanguage } from "#words/language-tags";
import type { MailWords } from "#words/mail";
import type { OwnWords } from "#words/own-texts";
import { wordsOf } from "#words/words-of";
import { type Translator as TranslatorOf, translatorOf } from "../messages/compiled-texts.ts";
import { type Block, htmlLayout, textLayout } from "./layout.ts";
import type { MailContent } from "./mail-job.ts";
import {
  type MailKind,
  type MessageOf,
  mailMessages,
  type NoticeMail,
  type SecurityMail,
  type SignInDetails,
} from "./messages.ts";
import { oneLine } from "./one-line.ts";
import type { RenderedMail } from "./transport.ts";

type Translator = TranslatorOf<MailWords>;

export type MailWriter = (content: MailContent, language: PageLanguage) => RenderedMail;

/**
 * Creates the function that renders mails.
 *
 * @param service display name of the service
 * @param host its host name, from the configuration, never from a request
 * @param words texts in place of ours
 */
export function createMailWriter({
  service,
  host,
  words = {},
}: {
  service: string;
  host: string;
  words?: OwnWords;
}): MailWriter {
  const names = { service: oneLine(service), host };

  return (content, language) => {
    const translate = translatorOf(language, wordsOf(language, words).mail);
    const { subject, preview, blocks } = draftOf(translate, content, names, language);
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

function draftOf(translate: Translator, content: MailContent, names: Names, language: PageLanguage): Draft {
  if (isOf("passcode", content)) return passcodeMail(translate, content, names);
  if (isOf("notice", content)) return noticeMail(translate, content.type, names);
  return changeMail(translate, content, names, language);
}

function isOf<Kind extends MailKind>(
  kind: Kind,
  content: MailContent,
): content is Extract<MailContent, { type: MessageOf<Kind> }> {
  return mailMessages[content.type] === kind;
}

function passcodeMail(
  translate: Translator,
  { type, code, ttlSeconds, link }: Extract<MailContent, { code: string }>,
  names: Names,
): Draft {
  // Rounded down: a mail must not promise more than the code's lifetime.
  const validity = translate("validity", { ...names, minutes: Math.max(1, Math.floor(ttlSeconds / 60)) });
  return {
    subject: translate(`messages.${type}.subject`, { ...names, code }),
    preview: validity,
    blocks: [
      { kind: "heading", text: translate(`messages.${type}.heading`, names) },
      { kind: "paragraph", text: translate(`messages.${type}.request`, names) },
      { kind: "code", text: code },
      ...(link === undefined ? [] : linkBlocks(translate, link, names)),
      { kind: "paragraph", text: validity },
      { kind: "paragraph", text: translate("secrecy", names) },
      { kind: "aside", text: translate(`messages.${type}.ignore`, names) },
    ],
  };
}

function linkBlocks(translate: Translator, address: string, names: Names): Block[] {
  return [
    { kind: "paragraph", text: translate("link", names) },
    { kind: "link", text: translate("linkLabel", names), address },
  ];
}

function noticeMail(translate: Translator, type: NoticeMail, names: Names): Draft {
  return {
    subject: translate(`messages.${type}.subject`, names),
    preview: translate(`messages.${type}.preview`, names),
    blocks: [
      { kind: "heading", text: translate(`messages.${type}.heading`, names) },
      { kind: "paragraph", text: translate(`messages.${type}.event`, names) },
      { kind: "paragraph", text: translate(`messages.${type}.advice`, names) },
      { kind: "aside", text: translate(`messages.${type}.ignore`, names) },
    ],
  };
}

function changeMail(translate: Translator, mail: SecurityMail, names: Names, language: PageLanguage): Draft {
  const { type } = mail;
  const details = detailsOf(mail, language);
  // The texts have an `other` branch for an unknown factor.
  const event = translate(`messages.${type}.event`, {
    ...names,
    factor: "other",
    address: "",
    ...details,
  });
  const unexpected =
    type === "account_delete" || type === "new_browser" || type === "impersonation"
      ? (`messages.${type}.unexpected` as const)
      : "unexpected";
  return {
    subject: translate(`messages.${type}.subject`, names),
    preview: event,
    blocks: [
      { kind: "heading", text: translate(`messages.${type}.heading`, names) },
      { kind: "paragraph", text: event },
      { kind: "paragraph", text: translate(unexpected, names) },
      // The reader is not the operator who acts.
      ...(type === "impersonation" ? [] : [{ kind: "aside" as const, text: translate("expected", names) }]),
    ],
  };
}

/** The values of the texts of a mail. */
function detailsOf(mail: SecurityMail, language: PageLanguage) {
  if (mail.type === "new_browser") return signInValues(mail, language);
  return mail.type === "impersonation" ? { ...mail, time: timeIn(language, mail.at) } : mail;
}

/** A time in the reader's language. The reader's time zone is unknown. */
function timeIn(language: PageLanguage, at: string): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  });
  return `${format.format(new Date(at))} (UTC)`;
}

/** The values of a sign-in in the reader's language. */
function signInValues({ at, browser, place }: SignInDetails, language: PageLanguage) {
  return { time: timeIn(language, at), browser, place: place ?? "none" };
}
