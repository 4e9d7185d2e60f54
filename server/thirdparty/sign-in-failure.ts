import { auditAttempt } from "../audit/audit.ts";
import type { ClientContext } from "../context/context.ts";
import type { ThirdPartyError } from "../failures/third-party.ts";
import type { ThirdPartyRequest } from "./authorization-requests.ts";
import type { Process } from "./process.ts";

/** Logs a failed sign-in. Only reason and detail are logged: messages of a provider may contain secrets. */
export function logSignInFailure(
  { runtime, client }: Pick<ClientContext<Process>, "runtime" | "client">,
  provider: string | null,
  { code, reason, detail, cause }: ThirdPartyError,
): void {
  const line = { provider, reason, detail, request_id: client.requestId };
  if (code === "server_error") runtime.log.error({ ...line, err: cause }, "a third-party sign-in failed");
  else runtime.log.info(line, "a third-party sign-in was rejected");
}

/** Records the failure of a sign-in that this service requested in the audit log. */
export async function recordSignInFailure(
  context: ClientContext<Process>,
  { provider, userId }: Pick<ThirdPartyRequest, "provider" | "userId">,
  { code, reason, detail }: ThirdPartyError,
): Promise<void> {
  const details = { provider, error: code, reason, ...(detail === undefined ? {} : { detail }) };
  const about = userId === undefined ? {} : { userId, cause: { account: userId } };
  await context.runtime.database.write.transaction(
    auditAttempt(context, "thirdparty_signin_signup_failed", details, about),
  );
}
