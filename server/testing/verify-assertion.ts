import { runTogether } from "#db/together";
import { askForAssertion, verifyAssertion as verify } from "../methods/passkey/passkeys.ts";
import type { RequestContext } from "../runtime.ts";

/** Asks for what an assertion is judged by, and verifies it, as a step of a flow does. */
export async function verifyAssertion(
  context: RequestContext,
  {
    flowId,
    response,
    ...about
  }: NonNullable<Parameters<typeof verify>[2]> & { flowId: string; response: unknown },
) {
  const question = askForAssertion(context, { flowId, response }, "true");
  const found = question?.found(await runTogether(context.runtime.database, question.parts)) ?? null;
  return verify(context, found, about);
}
