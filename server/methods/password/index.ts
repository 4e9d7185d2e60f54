import { z } from "zod";
import { always } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { type Method, pendingAs } from "../method.ts";
import { passwordMoving } from "./moving.ts";
import { createPassword } from "./passwords.ts";

/** Passwords: something that the user knows (NIST SP 800-63B-4, 3.1.1). */
export const password = {
  name: "password",
  credentials: "passwords",
  tables: ["passwords"],
  isSingle: true,
  has: ({ hasPassword }) => hasPassword,
  fact: "hasPassword",
  pending: pendingAs("passwordHash", z.string(), createPassword),
  moving: passwordMoving,
  removal: null,
  amr: () => "pwd",
  strength: { isMultiFactor: "never", resistsPhishing: false },
  firstFactor: {
    state: "login_password",
    identifies: false,
    followsIdentifier: "always",
    enabled: configured("password.enabled"),
    usable: always,
    choice: { action: "continue_to_password_login", description: "Sign in with a password." },
    codeTo: null,
  },
  secondFactor: null,
} as const satisfies Method;
