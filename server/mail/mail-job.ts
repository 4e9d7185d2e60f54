import type { CodeContent, MessageJob } from "../messages/message.ts";
import type { MailQueue, NoticeMail, PasscodeMail, SecurityMail } from "./messages.ts";

/**
 * The content of a mail. The only visitor input in it is addresses of the account in canonical form, and the name of a
 * browser from a closed list, so a mail cannot be made to carry an attacker's text.
 */
export type MailContent = ({ type: PasscodeMail } & CodeContent) | { type: NoticeMail } | SecurityMail;

/** A job that sends one mail. Its name is the queue of its message (`mailQueueOf`). */
export type MailJob = { [Queue in MailQueue]: MessageJob<"mail", Queue, MailContent> }[MailQueue];
