import { route } from "#server/http/route";
import { answerPage } from "../hosted/answer.ts";

/** As `route`, with the hosted pages. */
export const handlersOf = (address: string) => route(address, answerPage);
