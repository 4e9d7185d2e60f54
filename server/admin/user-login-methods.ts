import { z } from "zod";
import {
  all,
  type Condition,
  circumstance,
  holds,
  not,
  type Reason,
  reasonsOf,
} from "../conditions/condition.ts";
import { factsById, type UserFacts } from "../identity/facts.ts";
import { firstFactors, type MethodName, methodNames, secondFactors } from "../methods/index.ts";
import { acceptsFactor, hasAsSecondFactor } from "../methods/second-factors.ts";
import { canSignInWith, type SignInSubject } from "../methods/ways-in.ts";
import type { OperatorContext } from "./change-user.ts";
import { type AdminVerdict, notFound } from "./rejections.ts";

/** What an operator is told of the login methods of a user. */
export const loginMethodsSchema = z.object({
  can_sign_in: z.boolean().describe("Whether a first factor is usable."),
  methods: z.array(
    z.object({
      method: z.enum(methodNames),
      used_as: z.enum(["first_factor", "second_factor"]),
      usable: z
        .boolean()
        .describe("By the account and the configuration; what the browser can do is not known."),
      reasons: z
        .array(
          z.object({
            kind: z.enum(["setting", "fact", "capability", "flow", "circumstance"]),
            of: z.string().describe("The path of a setting, or the name of what is known of the account."),
            sentence: z.string(),
          }),
        )
        .describe("What has decided that."),
    }),
  ),
});

type LoginMethods = z.output<typeof loginMethodsSchema>;

interface Subject extends SignInSubject {
  facts: UserFacts;
}

const isBlocked = circumstance<Subject>("blocked", ({ facts }) => facts.blocked, {
  holds: "the user is blocked",
  fails: "the user is not blocked",
});

const judged: {
  method: MethodName;
  used_as: "first_factor" | "second_factor";
  condition: Condition<Subject>;
}[] = [
  ...firstFactors.map((method) => ({
    method: method.name,
    used_as: "first_factor" as const,
    condition: all(not(isBlocked), canSignInWith(method)),
  })),
  ...secondFactors.map((method) => ({
    method: method.name,
    used_as: "second_factor" as const,
    condition: all(not(isBlocked), acceptsFactor(method), hasAsSecondFactor(method)),
  })),
];

/** Tells with which methods a user can sign in, and what is missing for the others: by the conditions that decide sign-ins. */
export async function listLoginMethods(
  { runtime, tenant }: Pick<OperatorContext, "runtime" | "tenant">,
  userId: string,
): Promise<AdminVerdict<{ found: LoginMethods }>> {
  const facts = await factsById(runtime.database.read, tenant.id, userId);
  if (!facts) return notFound;
  const subject = { facts, config: tenant.config };
  const methods = judged.map(({ condition, ...method }) => ({
    ...method,
    usable: holds(condition, subject),
    reasons: reasonsOf(condition, subject) satisfies Reason[],
  }));
  const can_sign_in = methods.some(({ used_as, usable }) => used_as === "first_factor" && usable);
  return { ok: true, found: { can_sign_in, methods } };
}
