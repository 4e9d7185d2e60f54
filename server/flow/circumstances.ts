import { circumstance } from "../conditions/condition.ts";
import type { StateName } from "./names.ts";
import type { Situation } from "./situation.ts";

/** Conditions on the data of a flow that several steps of its plan have. */

/** That a state was completed or skipped. */
export const completed = (state: StateName) =>
  circumstance<Pick<Situation, "data">>(state, ({ data }) => data.completedStates.includes(state), {
    holds: `\`${state}\` is done`,
    fails: `\`${state}\` is not done yet`,
  });

export const hasFactor = circumstance<Pick<Situation, "data">>(
  "factors",
  ({ data }) => data.factors.length > 0,
  {
    holds: "a factor is verified",
    fails: "no factor is verified yet",
  },
);

/** That an identity provider has identified the account, which this flow has created or which existed. */
export const isSignedUp = circumstance<Pick<Situation, "data">>(
  "signed_up",
  ({ data }) => data.signedUp !== undefined,
  {
    holds: "an identity provider has identified the account",
    fails: "no identity provider has identified the account",
  },
);

/** That this flow has created the account of a user whom an identity provider has identified. */
export const createdAccount = circumstance<Pick<Situation, "data">>(
  "created_account",
  ({ data }) => data.signedUp === "created",
  { holds: "this flow has created the account", fails: "this flow has not created the account" },
);

/** That the sign-in began at an identity provider. */
export const isByProvider = circumstance<Pick<Situation, "data">>(
  "by_provider",
  ({ data }) => data.factors[0]?.method === "third_party",
  { holds: "an identity provider signs the user in", fails: "no identity provider signs the user in" },
);

/** That a forgotten password is to be replaced. */
export const isRecovering = circumstance<Pick<Situation, "data">>(
  "recovering",
  ({ data }) => data.recovering === true,
  {
    holds: "the user replaces a forgotten password",
    fails: "the user replaces no forgotten password",
  },
);
