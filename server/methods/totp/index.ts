import { z } from "zod";
import { always } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { userOtpSchema } from "../../objects/user-object.ts";
import { type Method, pendingAs } from "../method.ts";
import { totpMoving } from "./moving.ts";
import { confirmedTotp, deleteTotp, insertTotp } from "./totp.ts";

/** Codes of authenticator apps (TOTP, RFC 6238). */
export const totp = {
  name: "totp",
  credentials: "authenticator apps",
  tables: ["totpSecrets"],
  isSingle: true,
  has: ({ hasTotp }) => hasTotp,
  fact: "hasTotp",
  pending: {
    ...pendingAs("totp", confirmedTotp, insertTotp),
    // A sealed secret. The app has been shown it with the identifier as its label.
    unconfirmed: { member: "unconfirmedTotp", schema: z.string() },
  },
  moving: totpMoving,
  removal: {
    write: deleteTotp,
    audit: "otp_deleted",
    article: "an",
    noun: "authenticator app",
    short: "app",
    action: "otp_secret_delete",
    description: "Remove the authenticator app.",
    administration: {
      path: "otp",
      id: "UserOtp",
      schema: userOtpSchema,
      member: "otp",
    },
  },
  amr: () => "totp",
  strength: { isMultiFactor: "never", resistsPhishing: false },
  firstFactor: null,
  secondFactor: {
    kind: "own",
    rank: 3,
    state: "login_otp",
    switch: { action: "continue_to_login_otp", description: "Use an authenticator app instead." },
    accepted: configured("mfa.totp.enabled"),
    usable: always,
    enrolment: {
      state: "mfa_otp_secret_creation",
      action: "continue_to_otp_secret_creation",
      description: "Set up an authenticator app.",
      audit: "otp_created",
    },
    notice: "totp",
    outlastsSettings: true,
  },
} as const satisfies Method;
