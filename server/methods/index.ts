import { authenticator } from "./authenticator/index.ts";
import type { Method, MethodFact } from "./method.ts";
import { passcode } from "./passcode/index.ts";
import { passkey } from "./passkey/index.ts";
import { password } from "./password/index.ts";
import { provider } from "./provider/index.ts";
import { recoveryCode } from "./recovery-code/index.ts";
import { securityKey } from "./security-key/index.ts";
import { sms } from "./sms/index.ts";
import { totp } from "./totp/index.ts";

/**
 * Every way to prove who one is, in the order in which they are offered. A method is added here, as a folder with its
 * record; the compiler asks for what else it needs.
 */
export const methods = [
  password,
  passcode,
  sms,
  passkey,
  provider,
  totp,
  securityKey,
  authenticator,
  recoveryCode,
] as const satisfies readonly Method[];

type Methods = (typeof methods)[number];

export type MethodName = Methods["name"];

export const methodNames = methods.map(({ name }) => name) as [MethodName, ...MethodName[]];

/** The method of this name. */
export function methodOf(name: MethodName): Method {
  const found: Method | undefined = methods.find((method) => method.name === name);
  if (!found) throw new Error(`there is no method ${name}`);
  return found;
}

/** The facts of an account without any method. */
export const noMethods = Object.fromEntries(
  methods.flatMap(({ fact }) => (fact === null ? [] : [[fact, false]])),
) as Record<MethodFact, false>;

/** What is exported and imported with users. */
export const movings = methods.flatMap<Movings>(({ moving }) => moving ?? []);

type Movings = NonNullable<Methods["moving"]>;

/** A method of which an account has at most one row. */
export type SingleMethod = Extract<Methods, { isSingle: true }>;

export const singleMethods = methods.filter((method): method is SingleMethod => method.isSingle);

/** A second factor that is removed as its record says. */
export type RemovableMethod = Extract<SecondFactorMethod & SingleMethod, { removal: object }>;

export const removableMethods = methods.filter(
  (method): method is RemovableMethod => method.removal !== null,
);

/** A method that a registration can create. */
export type CreatedMethod = Extract<Methods, { pending: object }>;

export const createdInRegistrations = methods.filter(
  (method): method is CreatedMethod => method.pending !== null,
);

/** A method that begins sign-ins. */
export type FirstFactorMethod = Extract<Methods, { firstFactor: object }>;

export const firstFactors = methods.filter(
  (method): method is FirstFactorMethod => method.firstFactor !== null,
);

/** A method that an account can have as its second factor. */
export type SecondFactorMethod = Extract<Methods, { secondFactor: { kind: "own" } }>;

export const secondFactors = methods.filter(
  (method): method is SecondFactorMethod => method.secondFactor?.kind === "own",
);

/** A second factor that users set up in flows. */
export type EnrolledMethod = Extract<SecondFactorMethod, { secondFactor: { enrolment: object } }>;

export const enrolledMethods = secondFactors.filter(
  (method): method is EnrolledMethod => method.secondFactor.enrolment !== null,
);
