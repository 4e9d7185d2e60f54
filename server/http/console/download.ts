import { parseJson } from "../../lib/strict-json.ts";
import { isTree } from "../../lib/tree.ts";
import { plainError, type Reply } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { type CallRefusal, callOperation, consoleOperations } from "./call.ts";
import { isOfConsole } from "./sign-in.ts";
import { presentedVisitor } from "./visitor.ts";

/**
 * `POST /api/console/download/{operation}`: what a reading operation answers, as a file that the browser saves. A form posts
 * its input, so that what is searched for is in no log.
 */
export const consoleDownload: Handler = async (context) => {
  const { runtime, cookies, params, request } = context;
  const called = consoleOperations.get(params.operation ?? "");
  if (!isOfConsole(context) || !called?.isRead) return plainError(404, "Not found.");
  const form = await readText(request, "application/x-www-form-urlencoded");
  if (!form.ok && form.reason === "too_large") return plainError(413, "The body is too large.");
  const input = form.ok ? parseJson(new URLSearchParams(form.value).get("input") ?? "") : undefined;
  if (!isTree(input)) return plainError(400, "`input` must be a JSON object.");
  const answer = await callOperation(context, await presentedVisitor(runtime, cookies), called, input);
  if ("refused" in answer) return refusals[answer.refused];
  if (answer.status !== 200) return answer;
  const attachment = `attachment; filename="${called.operation.id}.${extensionOf(answer)}"`;
  if (!(answer instanceof Response))
    return { ...answer, headers: { ...answer.headers, "Content-Disposition": attachment } };
  answer.headers.set("Content-Disposition", attachment);
  return answer;
};

const refusals: Record<CallRefusal, Reply> = {
  signed_out: plainError(401, "Sign in to the console."),
  forbidden: plainError(403, "Your role does not allow this."),
  not_found: plainError(404, "There is no such tenant, or it is not yours."),
  step_up_required: plainError(403, "Sign in again."),
  key_required: plainError(403, "Only an API key may call this."),
};

const extensions: Record<string, string> = {
  "application/json": "json",
  "application/jsonl": "jsonl",
  "text/csv": "csv",
};

function extensionOf(answer: Reply | Response): string {
  const type =
    answer instanceof Response ? answer.headers.get("content-type") : answer.headers?.["Content-Type"];
  return extensions[type?.split(";", 1)[0] ?? ""] ?? "txt";
}
