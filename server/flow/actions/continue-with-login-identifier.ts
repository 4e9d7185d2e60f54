import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { parseEmailAddress } from "../../identity/email/email-address.ts";
import { parsePhoneNumber } from "../../identity/phone/phone-number.ts";
import { parseUsername } from "../../identity/username/username.ts";
import { factsByEmail, factsByPhone, factsByUsername } from "../../identity/users.ts";
import { passcode } from "../../methods/passcode/index.ts";
import { password } from "../../methods/password/index.ts";
import { sms } from "../../methods/sms/index.ts";
import { lastMethodHere } from "../../sessions/account-marks.ts";
import { action } from "../define.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { codeOfState, stateAfterIdentifier, stateOfLastMethod } from "../login-methods.ts";
import { go, reject } from "../outcome.ts";
import { phoneField } from "../phone-input.ts";
import { allowsSamlLogin, goToSamlProvider } from "../saml-login.ts";
import type { IdentifierKind } from "../wire.ts";

function identifierKinds({ email, username, phone }: Config): IdentifierKind[] {
  return [
    ...(email.enabled && email.use_as_login_identifier ? (["email"] as const) : []),
    ...(username.enabled && username.use_as_login_identifier ? (["username"] as const) : []),
    ...(phone.enabled && phone.use_as_login_identifier ? (["phone"] as const) : []),
  ];
}

const fields = {
  identifier(config: Config) {
    const kinds = identifierKinds(config);
    const accepts = kinds.includes("phone") ? { accepts: kinds } : {};
    return z.strictObject({
      identifier: z
        .string()
        .trim()
        .max(255)
        .meta({ preserve: true, ...accepts }),
    });
  },
  email: ({ email }: Config) =>
    z.strictObject({
      email: z.string().trim().min(3).max(email.max_length).meta({ input: "email", preserve: true }),
    }),
  username: ({ username }: Config) =>
    z.strictObject({
      username: z.string().trim().min(username.min_length).max(username.max_length).meta({ preserve: true }),
    }),
  phone: () => z.strictObject({ phone: phoneField() }),
};

/** Returns the name of the input: `identifier` if several kinds are accepted, else the accepted kind. */
function inputName(config: Config): keyof typeof fields {
  const [first, second] = identifierKinds(config);
  return second ? "identifier" : (first ?? "identifier");
}

type Input = z.ZodObject<Record<keyof typeof fields, z.ZodOptional<z.ZodString>>>;

const input = byConfig((config) => fields[inputName(config)](config) as unknown as Input);

/** The user enters an identifier. The response does not depend on whether an account has it. */
export const continueWithLoginIdentifier = action({
  description: "Identify the user who wants to sign in.",
  costs: ["write", "mail"],
  input,
  when: ({ config }) =>
    identifierKinds(config).length > 0 &&
    (password.firstFactor.isEnabled(config) ||
      passcode.firstFactor.isEnabled(config) ||
      sms.firstFactor.isEnabled(config) ||
      (config.email.use_as_login_identifier && allowsSamlLogin(config))),
  to: [
    "login_method_chooser",
    "login_password",
    "passcode_confirmation",
    "phone_confirmation",
    "login_passkey",
    "thirdparty",
  ],
  errors: [
    "value_invalid_error",
    "phone_number_not_allowed",
    "unknown_email_error",
    "unknown_username_error",
    "unknown_phone_number_error",
    "flow_discontinuity_error",
  ],
  async run(context, given) {
    const { config, db, request, data } = context;
    const name = inputName(config);
    const text = given[name] ?? "";
    const [kind, parsed] =
      name === "identifier" ? identifierOf(text, config) : ([name, canonical[name](text, config)] as const);
    if (!parsed.ok) return reject(parsed.reason, { input: name });
    const { value } = parsed;
    const redirect = kind === "email" ? await goToSamlProvider(context, value, name) : null;
    if (redirect) return redirect;

    const user = await find[kind](db, request.tenant.id, value);
    const { show_account_existence_hints, only_show_actual_login_methods } = config.privacy;
    if (!user && (show_account_existence_hints || only_show_actual_login_methods)) {
      return reject(unknown[kind], { input: name });
    }

    const email = kind === "email" ? value : (user?.email ?? undefined);
    const phone = kind === "phone" ? value : (user?.phone ?? undefined);
    const identifier = { kind, value, typed: text };
    const lastMethod = (user && lastMethodHere(request, user.userId)) ?? undefined;
    const account = { identifier, email, phone, userId: user?.userId, lastMethod };
    const identified = { ...data, ...account } as typeof data;
    const facts = factsOf(context.type, identified, user);
    const choice = stateAfterIdentifier(config, identified, facts);
    if (!choice) return reject("flow_discontinuity_error");
    const last = stateOfLastMethod(config, identified, facts);
    // A single method needs no choice, except beside a provider.
    const direct = choice === "login_method_chooser" || last === "login_method_chooser" ? last : null;
    const target = direct ?? choice;
    return go(target, {
      data: { ...account, ...codeOfState(target, identified) },
      facts,
      ...(direct && direct !== "login_method_chooser" ? { via: "login_method_chooser" } : {}),
    });
  },
});

type Canonical =
  | { ok: true; value: string }
  | { ok: false; reason: "value_invalid_error" | "phone_number_not_allowed" };

const canonical: Record<IdentifierKind, (text: string, config: Config) => Canonical> = {
  email: (text, config) => valid(parseEmailAddress(text, config.email.max_length)),
  username(text, config) {
    const parsed = parseUsername(text, config.username);
    return valid(parsed.ok ? parsed.username : null);
  },
  phone(text, config) {
    const parsed = parsePhoneNumber(text, config);
    return parsed.ok ? valid(parsed.number) : parsed;
  },
};

function valid(value: string | null): Canonical {
  return value === null ? { ok: false, reason: "value_invalid_error" } : { ok: true, value };
}

/**
 * Reads an identifier that may be of several kinds. An address has an `@`; a number is what is read as one, unless
 * usernames are accepted and it has letters. It depends on the text alone, so that it tells nothing of accounts.
 */
function identifierOf(text: string, config: Config): [IdentifierKind, Canonical] {
  const kinds = identifierKinds(config);
  if (text.includes("@") && kinds.includes("email")) return ["email", canonical.email(text, config)];
  const number = kinds.includes("phone") ? canonical.phone(text, config) : null;
  const isNumber = number?.ok || text.startsWith("+") || !kinds.includes("username");
  return number && isNumber ? ["phone", number] : ["username", canonical.username(text, config)];
}

const find = { email: factsByEmail, username: factsByUsername, phone: factsByPhone };

const unknown = {
  email: "unknown_email_error",
  username: "unknown_username_error",
  phone: "unknown_phone_number_error",
} as const;
