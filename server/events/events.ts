import { z } from "zod";
import { languageTags } from "#words/language-tags";
import type { emittedEventNames } from "../config/event-names.ts";
import { mailFactors, messagesOf } from "../mail/messages.ts";
import { type ChannelName, channels } from "../messages/channels.ts";
import { sessionObjectSchema } from "../objects/session-object.ts";
import { userObjectSchema } from "../objects/user-object.ts";
import { smsPurposes } from "../sms/sms-job.ts";

/** The user after the change; before it for `user.delete`. */
const userData = userObjectSchema
  .extend({
    ip_address: z
      .string()
      .optional()
      .describe("Address of the client, for changes by the user and of emails."),
    user_agent: z.string().optional().describe("`User-Agent` of the same client."),
  })
  .meta({ id: "UserEventData" });

const codeDetails = z.strictObject({
  service_name: z.string(),
  otp_code: z.string(),
  ttl: z.int().describe("Seconds for which the code is valid."),
  valid_until: z.int().describe("Seconds since 1970."),
});

const mailedCodeDetails = codeDetails.extend({
  link: z
    .string()
    .optional()
    .describe("The link beside the code, with `email.links`. It is as secret as the code."),
});

const securityMessages = (
  ["address_change", "factor_change", "change", "deletion", "sign_in", "impersonation"] as const
).flatMap((kind) => messagesOf(kind));

const changeDetails = z.strictObject({
  service_name: z.string(),
  template: z.enum(securityMessages).describe("The change that the mail reports."),
  new_email_address: z.string().optional(),
  old_email_address: z.string().optional().describe("The primary one before `primary_email_update`."),
  deleted_email_address: z.string().optional(),
  at: z.iso.datetime().optional().describe("When the sign-in of `new_browser` or `impersonation` was."),
  minutes: z.int().optional().describe("How long the operator of `impersonation` acts as the user at most."),
  reason: z.string().optional().describe("Why the operator of `impersonation` acts as the user."),
  browser: z.string().optional().describe("System and browser of the sign-in of `new_browser`."),
  place: z.string().nullable().optional().describe("Place of the sign-in of `new_browser`, if it is known."),
  factor: z.enum(mailFactors).optional().describe("The second factor that was added or removed."),
});

const language = z.enum(languageTags).meta({
  id: "Language",
  description: "Language of the message: `X-Language` of the request that caused it.",
});

const mailMembers = {
  subject: z.string(),
  body_plain: z.string(),
  body: z.string().describe("HTML."),
  to_email_address: z.string(),
  delivered_by_hanko: z
    .boolean()
    .describe(
      "Whether the service sends the mail too (`email_delivery.enabled`). If not, the receiver has to.",
    ),
  accept_language: z.string().describe("The same as `language`, for published receivers."),
  language,
};

/** A code is in mails of the first kind alone. */
const mailData = z
  .discriminatedUnion("type", [
    z
      .strictObject({ ...mailMembers, type: z.enum(messagesOf("passcode")), data: mailedCodeDetails })
      .meta({ id: "CodeMailEventData" }),
    z
      .strictObject({
        ...mailMembers,
        type: z.enum(messagesOf("notice")),
        data: z.strictObject({ service_name: z.string() }),
      })
      .meta({ id: "NoticeMailEventData" }),
    z
      .strictObject({ ...mailMembers, type: z.literal("security_notification"), data: changeDetails })
      .meta({ id: "ChangeMailEventData" }),
  ])
  .meta({ id: "MailEventData" });

const smsData = z
  .strictObject({
    type: z.enum(smsPurposes).describe("What the code is for."),
    to_phone_number: z.string().describe("E.164."),
    text: z
      .string()
      .describe("The SMS. Its last line is for browsers, which offer the code to the page of `data.host`."),
    delivered: z
      .boolean()
      .describe(
        "Whether the service sends the SMS too (`sms_delivery.enabled`). If not, the receiver has to.",
      ),
    language,
    data: codeDetails.extend({
      host: z.string().nullable().describe("Host of the page that asks for the code, if it is known."),
    }),
  })
  .meta({ id: "SmsEventData" });

/** What a user has allowed an application of the OpenID provider. */
const grantData = z
  .strictObject({
    user_id: z.string(),
    client_id: z.string(),
    client_name: z
      .string()
      .describe("The name by which the user knows it; of one that is not known any more, its id."),
    scopes: z.array(z.string()).describe("Scopes about the user."),
    claims: z.array(z.string()).describe("Claims about the user that it has asked for by name."),
    resources: z.record(z.string(), z.array(z.string())).describe("Scopes of APIs, by resource indicator."),
    ip_address: z.string().optional().describe("Address of the client."),
    user_agent: z.string().optional().describe("`User-Agent` of the same client."),
  })
  .meta({ id: "GrantEventData" });

/** A token of the OpenID provider that was refused. */
const tokenData = z
  .strictObject({
    user_id: z.string(),
    client_id: z.string(),
    kind: z.enum(["authorization_code", "device_code", "refresh_token"]),
    reason: z.enum(["reused"]),
    ip_address: z.string().optional().describe("Address that the call came from."),
    user_agent: z.string().optional().describe("`User-Agent` of the call."),
  })
  .meta({ id: "TokenEventData" });

const ofUser = (when: string) => ({ when, data: userData });
const ofSession = (when: string) => ({ when, data: sessionObjectSchema });

/**
 * Every event that is emitted: when, and its data. The events of a change are committed with it, and delivered to the
 * webhooks that subscribe to them (`server/webhooks`).
 */
export const events = {
  "user.create": ofUser(
    "An account was created: by a registration, a first sign-in with a provider, or the operator.",
  ),
  "user.delete": ofUser(
    "An account was deleted, by its user or the operator. Its sessions end without events of their own.",
  ),
  "user.login": ofUser("A login flow succeeded. Registrations and token exchanges do not count."),
  "user.impersonate": ofUser(
    "An operator has signed in as the user. The session, with the operator and the reason, is in `session.create.admin`.",
  ),
  "user.update": ofUser(
    "The names, the picture, the metadata or the block were changed, by the user, a provider or the operator. A change of credentials is no event.",
  ),
  "user.update.email.create": ofUser(
    "An email was added to an existing account, by its user, a provider or the operator.",
  ),
  "user.update.email.delete": ofUser(
    "An email was removed by the user or the operator, or released because its owner has verified it.",
  ),
  "user.update.email.primary": ofUser("Another email was made the primary one, by the user or the operator."),
  "user.update.username.create": ofUser(
    "An existing account was given a username, by its user or the operator.",
  ),
  "user.update.username.update": ofUser("The username was changed by the user or the operator."),
  "user.update.username.delete": ofUser("The username was removed by the user or the operator."),
  "user.update.password.update": ofUser(
    "The user has replaced the password, or set another one after a recovery code.",
  ),
  "user.update.phone.create": ofUser(
    "A phone number was set, in place of a former one if there was one, by the user or the operator.",
  ),
  "user.update.phone.delete": ofUser(
    "The phone number was removed: by the user or the operator, or because its owner verified it.",
  ),
  "email.send": {
    when: "A mail is sent; with `email_delivery.enabled` off, the receiver of this event has to send it.",
    data: mailData,
  },
  "sms.send": {
    when: "An SMS is sent; with `sms_delivery.enabled` off, the receiver of this event has to send it.",
    data: smsData,
  },
  "oauth.grant.create": {
    when: "A user has allowed an application that is not the operator's own what it has asked for.",
    data: grantData,
  },
  "oauth.grant.revoke": {
    when: "A user has ended the access of an application on the account page; its data say what it was allowed.",
    data: grantData,
  },
  "oauth.token.refused": {
    when: "A code or a refresh token was presented a second time. It has been copied, so everything that was issued by its grant has ended.",
    data: tokenData,
  },
  "session.create.flow": ofSession(
    "A session was issued at the end of a flow, or in place of another one after a reauthentication.",
  ),
  "session.create.admin": ofSession(
    "The operator has created a session, for its user or to act as the user.",
  ),
  "session.binding.create": ofSession("A browser has bound its session to a key of the device."),
  "session.binding.rejected": ofSession(
    "The cookie of a bound session came without the bound one: it was stolen, or the browser could not renew it. Once for each session in `session.device_bound.lifetime`.",
  ),
  "session.delete.explicit.logout": ofSession(
    "The user has signed out, or signed in again in the browser of the session.",
  ),
  "session.delete.explicit.revoke": ofSession(
    "The user has ended another session, or all others with a change that revokes them, as a password recovery does.",
  ),
  "session.delete.admin.revoke": ofSession("The operator has ended a session or blocked its user."),
  "session.delete.passive.expire": ofSession(
    "A session was unused for `session.idle_timeout` or has reached the end of its life; or the operator who acted in it has left the console.",
  ),
  "session.delete.passive.limit": ofSession("A newer session exceeded `session.limit`; the oldest one ends."),
} as const satisfies Record<EventName, { when: string; data: z.ZodType }>;

/** The name of an event that is emitted. */
export type EventName = (typeof emittedEventNames)[number];

/** The events of messages that are sent. */
export type MessageEventName = (typeof channels)[ChannelName]["event"];

const isOfMessage = (name: string) => Object.values(channels).some(({ event }) => event === name);

/** The data of an event. */
export type EventData<Name extends EventName> = z.infer<(typeof events)[Name]["data"]>;

/**
 * Lists the subscriptions that cover an event: its name and those that precede it by whole segments. `user.update`
 * covers `user.update.email.create`.
 */
export function subscriptionsCovering(name: EventName): string[] {
  const segments = name.split(".");
  return segments.map((_, index) => segments.slice(0, index + 1).join("."));
}

/**
 * Returns the claims that the token of a delivery carries beside `evt` and `data`: `language` for `email.send` and
 * `sms.send`, so that a receiver need not look into the data.
 *
 * @param data of the event, as stored
 */
export function claimsOf(name: string, data: unknown): { language?: string } {
  const { language } = (data ?? {}) as { language?: unknown };
  return isOfMessage(name) && typeof language === "string" ? { language } : {};
}

/**
 * Whether a receiver has no use for an event any more: its mail or SMS holds a code that has expired.
 *
 * @param data of the event
 */
export function isOutdated(name: string, data: object, now: Date): boolean {
  if (!isOfMessage(name)) return false;
  const { valid_until } = ("data" in data ? data.data : {}) as { valid_until?: unknown };
  return typeof valid_until === "number" && valid_until * 1000 <= now.getTime();
}
