import type { Fault } from "../fault.ts";
import { accountFaults } from "./accounts.ts";
import { administrationFaults } from "./administration.ts";
import { authenticatorFaults } from "./authenticators.ts";
import { clientFaults } from "./client.ts";
import { consoleFaults } from "./console.ts";
import { eventFaults } from "./events.ts";
import { messageFaults } from "./messages.ts";
import { pageFaults } from "./pages.ts";
import { serviceFaults } from "./service.ts";
import { signInFaults } from "./sign-in.ts";

/** Faults of every room that the suite has to notice. Each was missed once, or would let an attacker in. */
export const faults: readonly Fault[] = [
  ...accountFaults,
  ...administrationFaults,
  ...authenticatorFaults,
  ...clientFaults,
  ...consoleFaults,
  ...eventFaults,
  ...messageFaults,
  ...pageFaults,
  ...serviceFaults,
  ...signInFaults,
];
