import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "There is no page here",
  notFoundSentence: "The address may be mistyped, or the page has moved.",
  tooManyTitle: "One moment, please",
  tooManySentence: "This page was opened very often just now. Please wait {time}, then load it again.",
  badReturnTitle: "This link does not work",
  badReturnSentence:
    "The application that brought you here asked us to send you on to an address that we do not know, so we stopped. Nothing has happened to your account. Please go back to the application; its makers can mend this.",
  backTo: "Back to {host}",
  badLinkSentence:
    "Something in its address is missing or no longer valid. Please go back to where it came from, or start afresh.",
};
