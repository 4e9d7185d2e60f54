import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { parseEmailAddress } from "../../identity/email-address.ts";
import { parseUsername } from "../../identity/username.ts";
import { factsByEmail, factsByUsername } from "../../identity/users.ts";
import { rememberMe } from "../actions/remember-me.ts";
import { thirdpartyOauth } from "../actions/thirdparty-oauth.ts";
import type { DataPatch, FlowData } from "../data.ts";
import { state } from "../define.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { NEXT } from "../names.ts";
import { go, refuse } from "../outcome.ts";
import { willBeAbleToSignIn } from "../plan.ts";
import { goToSamlProvider } from "../saml-login.ts";
import { emailVerification } from "./onboarding-email.ts";

const asks = {
  email: ({ email }: Config) => email.enabled && email.acquire_on_registration,
  username: ({ username }: Config) => username.enabled && username.acquire_on_registration,
};

const input = byConfig((config) => {
  const { email, username } = config;
  const address = z.string().trim().min(3).max(email.max_length).meta({ input: "email", preserve: true });
  const name = z.string().trim().min(username.min_length).max(username.max_length).meta({ preserve: true });
  return z.strictObject({
    ...(asks.email(config) ? { email: email.optional ? address.optional() : address } : {}),
    ...(asks.username(config) ? { username: username.optional ? name.optional() : name } : {}),
  }) as z.ZodObject<{ email: z.ZodOptional<z.ZodString>; username: z.ZodOptional<z.ZodString> }>;
});

/** A new person says how they want to be known. */
export const registrationInit = state({
  name: "registration_init",
  actions: (action) => ({
    register_login_identifier: action({
      description: "Register with an e-mail address, a username, or both.",
      input,
      when: ({ config }) => config.account.allow_signup && (asks.email(config) || asks.username(config)),
      to: [NEXT, "thirdparty"],
      errors: [
        "value_missing_error",
        "value_invalid_error",
        "value_too_short_error",
        "value_too_long_error",
        "invalid_username_error",
        "username_already_exists",
        "email_already_exists",
        "flow_discontinuity_error",
      ],
      async run(context, given) {
        const { type, request, db, data, config } = context;
        const { tenant, runtime } = request;
        if (!given.email && !given.username) {
          return refuse("value_missing_error", { input: asks.email(config) ? "email" : "username" });
        }
        const parsed = given.username ? parseUsername(given.username, config.username) : null;
        if (parsed && !parsed.ok) return refuse(parsed.code, { input: "username" });
        const username = parsed?.username;
        // Usernames are public names: that one is taken can be told, and has to be.
        if (username && (await factsByUsername(db, tenant.id, username))) {
          return refuse("username_already_exists", { input: "username" });
        }

        const email = given.email ? parseEmailAddress(given.email, config.email.max_length) : undefined;
        if (email === null) return refuse("value_invalid_error", { input: "email" });
        const sent = email === undefined ? null : await goToSamlProvider(context, email, "email");
        if (sent) return sent;
        const taken = email !== undefined && (await factsByEmail(db, tenant.id, email)) !== null;
        const { require_verification } = config.email;
        if (taken && (!require_verification || config.privacy.show_account_existence_hints)) {
          return refuse("email_already_exists", { input: "email" });
        }
        // What was shown to be added to an app was of the account that would have been.
        const { unconfirmedTotp, ...pending } = data.pending;
        const identified: DataPatch = {
          pending,
          email,
          username,
          userId: data.userId ?? runtime.platform.uuid(),
          identifier: email ? { kind: "email", value: email } : { kind: "username", value: username ?? "" },
          passcode: email && require_verification ? emailVerification(email, taken) : undefined,
          // What was proved of one address says nothing of another.
          emailVerified: data.emailVerified && email === data.email ? true : undefined,
        };
        const after = {
          ...data,
          ...identified,
          answered: [...data.answered, "registration_init"],
        } as FlowData;
        const led = { type, config, data: after, facts: factsOf(type, after, null) };
        // An account that nobody could ever sign in to is none.
        return willBeAbleToSignIn(led) ? go(NEXT, { data: identified }) : refuse("flow_discontinuity_error");
      },
    }),
    thirdparty_oauth: thirdpartyOauth,
    remember_me: rememberMe,
  }),
});
