import { type Language, languageTags, type PageLanguage } from "#words/language-tags";
import type { Config } from "../config/schema.ts";
import { createMailWriter } from "../mail/mail-writer.ts";
import type { MailMessage } from "../mail/messages.ts";
import { smsPurposes } from "../sms/sms-job.ts";
import { writeSms } from "../sms/sms-writer.ts";
import { exampleName, mailSamples, smsSamples } from "./message-samples.ts";

/** A message as its recipient would have it. */
export type MessagePreview = { kind: string; example: string | null; text: string } & (
  | { channel: "mail"; subject: string; html: string }
  | { channel: "sms"; subject: null; html: null }
);

type Settings = Pick<Config, "base_url" | "service" | "words">;

/**
 * Writes every mail and SMS with examples: no code in them was ever valid, and nothing is sent.
 *
 * @param config of the tenant
 * @returns the mails by message, then the SMS. `example` names one of several of a message; null if there is one
 */
export function messagePreviews(
  { base_url, service, words }: Settings,
  language: PageLanguage,
): MessagePreview[] {
  const { host } = new URL(base_url);
  const writeMail = createMailWriter({ service: service.name, host, words });
  const mails = (Object.keys(mailSamples) as MailMessage[]).flatMap((kind) =>
    mailSamples[kind].map((content, _, all): MessagePreview => {
      const { subject, text, html } = writeMail(content, language);
      return {
        channel: "mail",
        kind,
        example: all.length > 1 ? exampleName(content) : null,
        subject,
        text,
        html,
      };
    }),
  );
  if (!isLanguage(language)) return mails;
  const texts = smsPurposes.map((kind): MessagePreview => {
    const content = { type: kind, ...smsSamples[kind], host };
    const text = writeSms(content, language, { service: service.name, words });
    return { channel: "sms", kind, example: null, subject: null, text, html: null };
  });
  return [...mails, ...texts];
}

/** There are no pseudo-languages of SMS. */
const isLanguage = (tag: PageLanguage): tag is Language => (languageTags as readonly string[]).includes(tag);
