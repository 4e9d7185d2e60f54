"use client";

import { TRPCClientError, type TRPCLink } from "@trpc/client";
import { observable } from "@trpc/server/observable";
import type { ConsoleRouter, RefusalReason, SettingsVersion } from "./console-router.ts";

/** What becomes of calls that the server refuses for want of a sign-in. */

/** The channel on which the page of a finished sign-in tells the others. */
export const SIGNED_IN_CHANNEL = "stile-console-signed-in";

/** Asks the user to sign in again; resolves with whether it was done. */
export type AskToSignIn = () => Promise<boolean>;

/** The reason of a refusal; null for any other error. */
export function refusalOf(error: unknown): RefusalReason | null {
  return error instanceof TRPCClientError
    ? ((error.data as { reason?: RefusalReason })?.reason ?? null)
    : null;
}

/** What was changed since the version that a refused change was made of, the newest first; null for any other error. */
export function changesSince(error: unknown): SettingsVersion[] | null {
  return error instanceof TRPCClientError
    ? ((error.data as { changes?: SettingsVersion[] })?.changes ?? null)
    : null;
}

/** Sends the browser to the sign-in, and back to the page it is on. */
function goToSignIn(): void {
  const to = location.pathname + location.search;
  location.assign(`/api/console/sign-in?${new URLSearchParams({ to })}`);
}

/**
 * Repeats a change once its user has signed in again, so that what was typed is not lost. A call without a session leads to the
 * sign-in.
 */
export function signInLink(ask: AskToSignIn): TRPCLink<ConsoleRouter> {
  return () =>
    ({ next, op }) =>
      observable((observer) => {
        let call = next(op).subscribe({ next: observer.next, error: refused, complete: observer.complete });
        function refused(error: TRPCClientError<ConsoleRouter>) {
          const reason = refusalOf(error);
          if (reason === "signed_out") goToSignIn();
          if (reason !== "step_up_required") return observer.error(error);
          void ask().then((signedIn) => {
            if (signedIn) call = next(op).subscribe(observer);
            else observer.error(error);
          });
        }
        return () => call.unsubscribe();
      });
}
