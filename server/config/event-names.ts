/** Names of the events that are emitted. `server/events` says when, and with what data. */
export const emittedEventNames = [
  "user.create",
  "user.delete",
  "user.login",
  "user.impersonate",
  "user.update",
  "user.update.email.create",
  "user.update.email.delete",
  "user.update.email.primary",
  "user.update.username.create",
  "user.update.username.delete",
  "user.update.username.update",
  "user.update.password.update",
  "user.update.phone.create",
  "user.update.phone.delete",
  "session.create.flow",
  "session.create.admin",
  "session.binding.create",
  "session.binding.rejected",
  "session.delete.explicit.logout",
  "session.delete.explicit.revoke",
  "session.delete.admin.revoke",
  "session.delete.passive.expire",
  "session.delete.passive.limit",
  "oauth.grant.create",
  "oauth.grant.revoke",
  "oauth.token.refused",
  "email.send",
  "sms.send",
] as const;

/** Names that are not emitted themselves. A subscription to one covers the events below it. */
export const parentEventNames = [
  "user",
  "user.update.email",
  "user.update.username",
  "user.update.password",
  "user.update.phone",
  "session",
  "session.create",
  "session.binding",
  "session.delete",
  "session.delete.explicit",
  "session.delete.admin",
  "session.delete.passive",
  "oauth",
  "oauth.grant",
  "oauth.token",
] as const;

/** Every name that a webhook may be subscribed to. */
export const subscribableEventNames = [...emittedEventNames, ...parentEventNames] as const;
