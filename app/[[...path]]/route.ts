import { route } from "#server/http/route";
import { answerPage } from "../../hosted/answer.ts";

/** Every address of the service, for `next start` and for serverless platforms. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(answerPage);
