import type { CodeContent, MessageJob } from "../messages/message.ts";
import type { NoticeMail, PasscodeMail, SecurityMail } from "./messages.ts";

/**
 * The content of a mail. The only visitor input in it is addresses of the account in canonical form, and the name of a
 * browser from a closed list, so a mail cannot be made to carry an attacker's text.
 */
export type MailContent = ({ type: PasscodeMail } & CodeContent) | { type: NoticeMail } | SecurityMail;

/** A job that sends one mail. Servers of release 0.3 put some into the second queue, which this version only takes from. */
export type MailJob =
  | MessageJob<"mail", "send_mail", MailContent>
  | MessageJob<"mail", "send_newer_mail", MailContent>;
