import { z } from "zod";
import { all, circumstanceOfSettings } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import {
  type IdentifierKind,
  identifierKinds,
  requestedIdentifiers,
  verifiedIdentifiers,
} from "../../identity/identifiers.ts";
import { rememberMe } from "../actions/remember-me.ts";
import { thirdpartyOauth } from "../actions/thirdparty-oauth.ts";
import { type DataPatch, type FlowData, withoutUnconfirmed } from "../data.ts";
import { type Context, state, type View } from "../define.ts";
import { findOwner, identifierErrors, identifierField, readIdentifier } from "../entered-identifier.ts";
import { noCodes, verificationCode } from "../expected-codes.ts";
import { factsOf } from "../facts.ts";
import { byConfig } from "../inputs.ts";
import { NEXT } from "../names.ts";
import { go, reject } from "../outcome.ts";
import { willBeAbleToSignIn } from "../plan.ts";
import { goToSamlProvider } from "../saml-login.ts";

type Input = z.ZodObject<Record<IdentifierKind, z.ZodOptional<z.ZodString>>>;

const input = byConfig((config) => {
  const fields = requestedIdentifiers(config).map(({ kind }) => {
    const field = identifierField(kind, config);
    return [kind, config[kind].optional ? field.optional() : field];
  });
  return z.strictObject(Object.fromEntries(fields)) as Input;
});

/** Where registration is closed, the state offers nothing. */
const isOpen = configured("account.allow_signup");

const asksForIdentifier = circumstanceOfSettings<Pick<View, "config">>(
  "requested_identifier",
  ({ config }) => requestedIdentifiers(config).length > 0,
  {
    holds: "registrations ask for an identifier",
    fails: "registrations ask for no identifier",
  },
);

/** A new user enters one or more identifiers: an email address, a username, a phone number. */
export const registrationInit = state({
  name: "registration_init",
  actions: (action) => ({
    register_login_identifier: action({
      description: "Register with an email address, a username, a phone number, or several of them.",
      costs: ["write", "mail"],
      input,
      when: all(isOpen, asksForIdentifier),
      to: [NEXT, "thirdparty"],
      errors: ["value_missing_error", ...identifierErrors(...identifierKinds), "flow_discontinuity_error"],
      async run(context, typed) {
        const { type, request, data, config } = context;
        const asked = requestedIdentifiers(config);
        const entered: { kind: IdentifierKind; value: string; typed: string }[] = [];
        for (const { kind } of asked) {
          const text = typed[kind];
          if (!text) continue;
          const read = readIdentifier(kind, text, config);
          if (!read.ok) return read.rejection;
          entered.push({ kind, value: read.value, typed: text });
        }
        const [identifier] = entered;
        if (!identifier) return reject("value_missing_error", { input: asked[0]?.kind ?? "email" });
        const email = entered.find(({ kind }) => kind === "email");
        const redirect = email ? await goToSamlProvider(context, email.value, "email") : null;
        if (redirect) return redirect;
        const taken = new Set<IdentifierKind>();
        for (const { kind, value } of entered) {
          const owned = await findOwner(context, kind, value);
          if (!owned.ok) return owned.rejection;
          if (owned.taken) taken.add(kind);
        }
        const identified: DataPatch = {
          pending: withoutUnconfirmed(data.pending),
          userId: data.userId ?? request.runtime.platform.uuid(),
          identifier,
          ...Object.fromEntries(identifierKinds.map((kind) => [kind, undefined])),
          ...Object.fromEntries(entered.map(({ kind, value }) => [kind, value])),
          ...verifications(context, entered, taken),
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
    thirdparty_oauth: { ...thirdpartyOauth, when: all(isOpen, thirdpartyOauth.when) },
    remember_me: { ...rememberMe, when: all(isOpen, rememberMe.when) },
  }),
});

/** Returns what is verified of the identifiers, and the codes that verify the others, as a change of the data. */
function verifications(
  { data, config }: Pick<Context, "data" | "config">,
  entered: readonly { kind: IdentifierKind; value: string }[],
  taken: ReadonlySet<IdentifierKind>,
): DataPatch {
  const changes = verifiedIdentifiers.map(({ kind, verified, requiresVerification }): DataPatch => {
    const value = entered.find((each) => each.kind === kind)?.value;
    // A verification counts for the same identifier only.
    const isVerified = data[verified] === true && value === data[kind];
    const expects = value !== undefined && requiresVerification(config) && !isVerified;
    const code = expects ? verificationCode(kind, value, taken.has(kind)) : {};
    return { [verified]: isVerified ? true : undefined, ...code };
  });
  return Object.assign({}, noCodes, ...changes);
}
