import { storedAccount } from "../account/stored-account.ts";

/** An account that has nothing but itself. */
export const storedNothing = storedAccount({
  user: {},
  usernames: [],
  phones: [],
  emails: [],
  credentials: [],
  identities: [],
  has: { hasPassword: false, hasTotp: false },
});
