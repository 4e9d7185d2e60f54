import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { parseEmailAddress } from "../../identity/email-address.ts";
import { parseUsername } from "../../identity/username.ts";
import { factsByEmail, factsByUsername } from "../../identity/users.ts";
import { passcode } from "../../methods/passcode/index.ts";
import { password } from "../../methods/password/index.ts";
import { lastMethodHere } from "../../sessions/account-marks.ts";
import { action } from "../define.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { loginPasscode, stateAfterIdentifier, stateOfLastMethod } from "../login-methods.ts";
import { go, reject } from "../outcome.ts";
import { allowsSamlLogin, goToSamlProvider } from "../saml-login.ts";

type Kind = "email" | "username";

function identifierKinds({ email, username }: Config): Kind[] {
  return [
    ...(email.enabled && email.use_as_login_identifier ? (["email"] as const) : []),
    ...(username.enabled && username.use_as_login_identifier ? (["username"] as const) : []),
  ];
}

const fields = {
  identifier: () => z.strictObject({ identifier: z.string().trim().max(255).meta({ preserve: true }) }),
  email: ({ email }: Config) =>
    z.strictObject({
      email: z.string().trim().min(3).max(email.max_length).meta({ input: "email", preserve: true }),
    }),
  username: ({ username }: Config) =>
    z.strictObject({
      username: z.string().trim().min(username.min_length).max(username.max_length).meta({ preserve: true }),
    }),
};

/** Returns the name of the input: `identifier` if both kinds are accepted, else the accepted kind. */
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
      (config.email.use_as_login_identifier && allowsSamlLogin(config))),
  to: ["login_method_chooser", "login_password", "passcode_confirmation", "login_passkey", "thirdparty"],
  errors: [
    "value_invalid_error",
    "unknown_email_error",
    "unknown_username_error",
    "flow_discontinuity_error",
  ],
  async run(context, given) {
    const { config, db, request, data } = context;
    const name = inputName(config);
    const text = given[name] ?? "";
    const kind: Kind = name === "identifier" ? (text.includes("@") ? "email" : "username") : name;
    const value = canonical(kind, text, config);
    if (value === null) return reject("value_invalid_error", { input: name });
    const redirect = kind === "email" ? await goToSamlProvider(context, value, name) : null;
    if (redirect) return redirect;

    const find = kind === "email" ? factsByEmail : factsByUsername;
    const user = await find(db, request.tenant.id, value);
    const { show_account_existence_hints, only_show_actual_login_methods } = config.privacy;
    if (!user && (show_account_existence_hints || only_show_actual_login_methods)) {
      return reject(kind === "email" ? "unknown_email_error" : "unknown_username_error", { input: name });
    }

    const email = kind === "email" ? value : (user?.email ?? undefined);
    const identifier = { kind, value, typed: text };
    const lastMethod = (user && lastMethodHere(request, user.userId)) ?? undefined;
    const identified = { ...data, identifier, email, userId: user?.userId, lastMethod } as typeof data;
    const facts = factsOf(context.type, identified, user);
    const choice = stateAfterIdentifier(config, identified, facts);
    if (!choice) return reject("flow_discontinuity_error");
    const last = stateOfLastMethod(config, identified, facts);
    // A single method needs no choice, except beside a provider.
    const direct = choice === "login_method_chooser" || last === "login_method_chooser" ? last : null;
    const target = direct ?? choice;
    const passcode = target === "passcode_confirmation" ? loginPasscode(identified, "login") : undefined;
    return go(target, {
      data: { identifier, email, userId: user?.userId, lastMethod, passcode },
      facts,
      ...(direct && direct !== "login_method_chooser" ? { via: "login_method_chooser" } : {}),
    });
  },
});

function canonical(kind: Kind, text: string, config: Config): string | null {
  if (kind === "email") return parseEmailAddress(text, config.email.max_length);
  const parsed = parseUsername(text, config.username);
  return parsed.ok ? parsed.username : null;
}
