import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { parseEmailAddress } from "../../identity/email/email-address.ts";
import { parsePhoneNumber } from "../../identity/phone/phone-number.ts";
import { parseUsername } from "../../identity/username/username.ts";
import { factsByEmail, factsByPhone, factsByUsername } from "../../identity/users.ts";
import { rememberMe } from "../actions/remember-me.ts";
import { thirdpartyOauth } from "../actions/thirdparty-oauth.ts";
import { type DataPatch, type FlowData, withoutUnconfirmed } from "../data.ts";
import { state, type View } from "../define.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { NEXT } from "../names.ts";
import { go, reject } from "../outcome.ts";
import { numberVerification, phoneField } from "../phone-input.ts";
import { willBeAbleToSignIn } from "../plan.ts";
import { goToSamlProvider } from "../saml-login.ts";
import { emailVerification } from "./onboarding-email.ts";

const asksFor = {
  email: ({ email }: Config) => email.enabled && email.acquire_on_registration,
  username: ({ username }: Config) => username.enabled && username.acquire_on_registration,
  phone: ({ phone }: Config) => phone.enabled && phone.acquire_on_registration,
};

const input = byConfig((config) => {
  const { email, username, phone } = config;
  const address = z.string().trim().min(3).max(email.max_length).meta({ input: "email", preserve: true });
  const name = z.string().trim().min(username.min_length).max(username.max_length).meta({ preserve: true });
  return z.strictObject({
    ...(asksFor.email(config) ? { email: email.optional ? address.optional() : address } : {}),
    ...(asksFor.username(config) ? { username: username.optional ? name.optional() : name } : {}),
    ...(asksFor.phone(config) ? { phone: phone.optional ? phoneField().optional() : phoneField() } : {}),
  }) as z.ZodObject<Record<keyof typeof asksFor, z.ZodOptional<z.ZodString>>>;
});

const askedFor = (config: Config) =>
  (Object.keys(asksFor) as (keyof typeof asksFor)[]).filter((kind) => asksFor[kind](config));

/** Where registration is closed, the state offers nothing. */
const isOpenAnd = (when: (view: View) => boolean) => (view: View) =>
  view.config.account.allow_signup && when(view);

/** A new user enters one or more identifiers: an email address, a username, a phone number. */
export const registrationInit = state({
  name: "registration_init",
  actions: (action) => ({
    register_login_identifier: action({
      description: "Register with an email address, a username, a phone number, or several of them.",
      costs: ["write", "mail"],
      input,
      when: ({ config }) => config.account.allow_signup && askedFor(config).length > 0,
      to: [NEXT, "thirdparty"],
      errors: [
        "value_missing_error",
        "value_invalid_error",
        "value_too_short_error",
        "value_too_long_error",
        "invalid_username_error",
        "username_already_exists",
        "email_already_exists",
        "phone_number_not_allowed",
        "phone_number_already_exists",
        "flow_discontinuity_error",
      ],
      async run(context, { email: typedEmail, username: typedUsername, phone: typedPhone }) {
        const { type, request, db, data, config } = context;
        const { tenant, runtime } = request;
        if (!typedEmail && !typedUsername && !typedPhone) {
          const [first = "email"] = askedFor(config);
          return reject("value_missing_error", { input: first });
        }
        const parsed = typedUsername ? parseUsername(typedUsername, config.username) : null;
        if (parsed && !parsed.ok) return reject(parsed.reason, { input: "username" });
        const username = parsed?.username;
        // Usernames are public, so a taken one is reported.
        if (username && (await factsByUsername(db, tenant.id, username))) {
          return reject("username_already_exists", { input: "username" });
        }

        const email = typedEmail ? parseEmailAddress(typedEmail, config.email.max_length) : undefined;
        if (email === null) return reject("value_invalid_error", { input: "email" });
        const dialled = typedPhone ? parsePhoneNumber(typedPhone, config) : null;
        if (dialled && !dialled.ok) return reject(dialled.reason, { input: "phone" });
        const phone = dialled?.number;
        const redirect = email === undefined ? null : await goToSamlProvider(context, email, "email");
        if (redirect) return redirect;
        const taken = email !== undefined && (await factsByEmail(db, tenant.id, email)) !== null;
        const { require_verification } = config.email;
        if (taken && (!require_verification || config.privacy.show_account_existence_hints)) {
          return reject("email_already_exists", { input: "email" });
        }
        const phoneTaken = phone !== undefined && (await factsByPhone(db, tenant.id, phone)) !== null;
        if (phoneTaken && config.privacy.show_account_existence_hints) {
          return reject("phone_number_already_exists", { input: "phone" });
        }
        const isPhoneVerified = data.phoneVerified && phone === data.phone;
        const identified: DataPatch = {
          pending: withoutUnconfirmed(data.pending),
          email,
          username,
          phone,
          userId: data.userId ?? runtime.platform.uuid(),
          identifier: email
            ? { kind: "email", value: email, typed: typedEmail }
            : username === undefined && phone
              ? { kind: "phone", value: phone, typed: typedPhone }
              : { kind: "username", value: username ?? "", typed: typedUsername },
          passcode: email && require_verification ? emailVerification(email, taken) : undefined,
          // A verification counts for the same address only.
          emailVerified: data.emailVerified && email === data.email ? true : undefined,
          sms: phone && !isPhoneVerified ? numberVerification(phone, phoneTaken) : undefined,
          phoneVerified: isPhoneVerified ? true : undefined,
        };
        const after = {
          ...data,
          ...identified,
          completedStates: [...data.completedStates, "registration_init"],
        } as FlowData;
        const situation = { type, config, data: after, facts: factsOf(type, after, null) };
        // Rejects a registration whose account could never be signed in to.
        return willBeAbleToSignIn(situation)
          ? go(NEXT, { data: identified })
          : reject("flow_discontinuity_error");
      },
    }),
    thirdparty_oauth: { ...thirdpartyOauth, when: isOpenAnd(thirdpartyOauth.when) },
    remember_me: { ...rememberMe, when: isOpenAnd(rememberMe.when) },
  }),
});
