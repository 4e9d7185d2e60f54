import { z } from "zod";
import { all, any, circumstanceOfSettings } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Config } from "../../config/schema.ts";
import { type FactsJson, factsOfJson, factsPart } from "../../identity/facts.ts";
import {
  type IdentifierKind,
  identifierOf,
  identifiers,
  loginIdentifiers,
  verifiedIdentifiers,
} from "../../identity/identifiers.ts";
import { firstFactors } from "../../methods/index.ts";
import { lastMethodHere } from "../../sessions/account-marks.ts";
import { action, type View } from "../define.ts";
import { identifierField } from "../entered-identifier.ts";
import { codeOfState } from "../expected-codes.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { methodStates, stateAfterIdentifier, stateOfLastMethod } from "../login-methods.ts";
import { go, reject } from "../outcome.ts";
import { allowsSamlLogin, goToSamlProvider } from "../saml-login.ts";

/** The kinds that published clients know as an `identifier`. Others are announced. */
const publishedKinds: readonly IdentifierKind[] = ["email", "username"];

/** No input is accepted that is longer, so that none is read before it is checked. */
const MAX_LENGTH = 255;

const anyIdentifier = z.string().trim().max(MAX_LENGTH);

/** Returns the name of the input: `identifier` if several kinds are accepted, else the accepted kind. */
function inputName(config: Config): "identifier" | IdentifierKind {
  const [first, second] = loginIdentifiers(config);
  return second ? "identifier" : (first?.kind ?? "identifier");
}

/** The input by which an identifier is entered. */
export const identificationBy = (identifier: string, config: Config): Record<string, string> => ({
  [inputName(config)]: identifier,
});

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

/** Reads the identifier that was entered: as the client sent it, or of an input that was accepted. */
function enteredIn(given: Record<string, unknown>, config: Config) {
  const name = inputName(config);
  const text = typeof given[name] === "string" ? given[name].trim() : "";
  const typed = text.length > MAX_LENGTH ? "" : text;
  const kind = name === "identifier" ? kindOf(typed, config) : name;
  return { name, typed, kind, parsed: identifierOf(kind).parse(typed, config) };
}

const acceptsIdentifier = circumstanceOfSettings<Pick<View, "config">>(
  "login_identifier",
  ({ config }) => loginIdentifiers(config).length > 0,
  {
    holds: "a kind of identifier is enabled for signing in",
    fails: "no kind of identifier is enabled for signing in",
  },
);

const offersSaml = circumstanceOfSettings<Pick<View, "config">>(
  "saml",
  ({ config }) => allowsSamlLogin(config),
  { holds: "a SAML identity provider is enabled", fails: "no SAML identity provider is enabled" },
);

/** The user enters an identifier. The response does not depend on whether an account has it. */
export const continueWithLoginIdentifier = action({
  description: "Identify the user who wants to sign in.",
  costs: ["write", "mail"],
  input,
  when: all(
    acceptsIdentifier,
    any(
      ...firstFactors
        .filter(({ firstFactor }) => firstFactor.followsIdentifier === "always")
        .map(({ firstFactor }) => firstFactor.enabled),
      all(configured("email.use_as_login_identifier"), offersSaml),
    ),
  ),
  to: ["login_method_chooser", ...methodStates, "thirdparty"],
  errors: [
    "value_invalid_error",
    ...identifiers.flatMap(({ errors }) => [...errors.atLogin, errors.unknown]),
    "flow_discontinuity_error",
  ],
  asks({ tenant }, given) {
    const { kind, parsed } = enteredIn(given, tenant.config);
    if (!parsed.ok) return null;
    const part = factsPart(tenant.id, kind, parsed.value);
    return {
      parts: [part],
      found: (returned) => (returned as Record<string, FactsJson | null>)[part.name] ?? null,
    };
  },
  async run(context, given, found) {
    const { config, request, data } = context;
    const { name, typed, kind, parsed } = enteredIn(given, config);
    const { errors } = identifierOf(kind);
    if (!parsed.ok) {
      const reported = errors.atLogin.find((code) => code === parsed.reason);
      return reject(reported ?? "value_invalid_error", { input: name });
    }
    const { value } = parsed;
    const redirect = kind === "email" ? await goToSamlProvider(context, value, name) : null;
    if (redirect) return redirect;

    const user = found && factsOfJson(found);
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
