import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { factsByIdentifier } from "../../identity/facts.ts";
import {
  type IdentifierKind,
  identifierOf,
  identifiers,
  loginIdentifiers,
  verifiedIdentifiers,
} from "../../identity/identifiers.ts";
import { firstFactors } from "../../methods/index.ts";
import { lastMethodHere } from "../../sessions/account-marks.ts";
import { action } from "../define.ts";
import { identifierField } from "../entered-identifier.ts";
import { codeOfState } from "../expected-codes.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { methodStates, stateAfterIdentifier, stateOfLastMethod } from "../login-methods.ts";
import { go, reject } from "../outcome.ts";
import { allowsSamlLogin, goToSamlProvider } from "../saml-login.ts";

/** The kinds that published clients know as an `identifier`. Others are announced. */
const publishedKinds: readonly IdentifierKind[] = ["email", "username"];

const anyIdentifier = z.string().trim().max(255);

/** Returns the name of the input: `identifier` if several kinds are accepted, else the accepted kind. */
function inputName(config: Config): "identifier" | IdentifierKind {
  const [first, second] = loginIdentifiers(config);
  return second ? "identifier" : (first?.kind ?? "identifier");
}

type Input = z.ZodObject<Record<"identifier" | IdentifierKind, z.ZodOptional<z.ZodString>>>;

const input = byConfig((config) => {
  const name = inputName(config);
  const accepts = loginIdentifiers(config).map(({ kind }) => kind);
  const announced = accepts.every((kind) => publishedKinds.includes(kind)) ? {} : { accepts };
  const field =
    name === "identifier"
      ? anyIdentifier.meta({ preserve: true, ...announced })
      : identifierField(name, config);
  return z.strictObject({ [name]: field }) as unknown as Input;
});

/** The user enters an identifier. The response does not depend on whether an account has it. */
export const continueWithLoginIdentifier = action({
  description: "Identify the user who wants to sign in.",
  costs: ["write", "mail"],
  input,
  when: ({ config }) =>
    loginIdentifiers(config).length > 0 &&
    (firstFactors.some(
      ({ firstFactor }) => firstFactor.followsIdentifier === "always" && firstFactor.isEnabled(config),
    ) ||
      (config.email.use_as_login_identifier && allowsSamlLogin(config))),
  to: ["login_method_chooser", ...methodStates, "thirdparty"],
  errors: [
    "value_invalid_error",
    ...identifiers.flatMap(({ errors }) => [...errors.atLogin, errors.unknown]),
    "flow_discontinuity_error",
  ],
  async run(context, given) {
    const { config, db, request, data } = context;
    const name = inputName(config);
    const typed = given[name] ?? "";
    const kind = name === "identifier" ? kindOf(typed, config) : name;
    const { parse, errors } = identifierOf(kind);
    const parsed = parse(typed, config);
    if (!parsed.ok) {
      const reported = errors.atLogin.find((code) => code === parsed.reason);
      return reject(reported ?? "value_invalid_error", { input: name });
    }
    const { value } = parsed;
    const redirect = kind === "email" ? await goToSamlProvider(context, value, name) : null;
    if (redirect) return redirect;

    const user = await factsByIdentifier(db, request.tenant.id, kind, value);
    const { show_account_existence_hints, only_show_actual_login_methods } = config.privacy;
    if (!user && (show_account_existence_hints || only_show_actual_login_methods)) {
      return reject(errors.unknown, { input: name });
    }

    const recipients = verifiedIdentifiers.map((each) => [
      each.kind,
      each.kind === kind ? value : (user?.[each.kind] ?? undefined),
    ]);
    const account = {
      ...Object.fromEntries(recipients),
      identifier: { kind, value, typed },
      userId: user?.userId,
      lastMethod: (user && lastMethodHere(request, user.userId)) ?? undefined,
    };
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

/** Returns the kind of a text that may be of several. It depends on the text alone, so that it tells nothing of accounts. */
function kindOf(text: string, config: Config): IdentifierKind {
  const accepted = loginIdentifiers(config);
  const like =
    accepted.find(({ isLike }) => isLike?.(text, config)) ??
    accepted.find(({ isLike }) => isLike === null) ??
    accepted.at(-1);
  return like?.kind ?? "username";
}
