import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "Do you agree to this?",
  sentence: "{application} asks for your agreement. Your passkey signs just what you read here.",
  agreement: "What you agree to",
  members: { amount: "Amount", to: "To", reference: "Reference", items: "Items" },
  rest: "Also part of this:",
  confirm: "Confirm with passkey",
  decline: "Decline",
  returning: "You are then taken back to {host}.",
  exact: "Show the exact text",
  exactSentence: "This is what is signed, character by character: the reference, and the data.",
  hides:
    "There are characters in this that cannot be seen. We have marked them. Decline if you are in doubt.",
  unseen: "character {code}, which cannot be seen",
  yes: "yes",
  no: "no",
  nothing: "nothing",
  empty: "empty",
  noScript: "Passkeys need JavaScript. Please turn it on for this page, then load it again.",
  redirecting: "We are taking you back to {host}.",
  continueAt: "Continue to {host}",
  ends: {
    confirmed: { title: "Thank you, it is confirmed", sentence: "You can close this page now." },
    declined: { title: "You declined", sentence: "Nothing was signed. You can close this page now." },
    expired: {
      title: "This took a little long",
      sentence:
        "For your safety the page has closed, and nothing was signed. Please start again where you came from.",
    },
    answered: {
      title: "This was answered before",
      sentence: "There is nothing more to do here. You can close this page now.",
    },
    unknown: {
      title: "This page is no longer open",
      sentence: "It may have been answered, or it has expired. Please start again where you came from.",
    },
  },
  errors: {
    cancelled: "The passkey was not used, so nothing was signed. You can try again, or decline.",
    failed: "Your browser could not use a passkey here. Nothing was signed.",
    unsupported: "This browser has no passkeys. Please open this page on another device, or decline.",
    refused: "We could not accept this passkey. Nothing was signed. Please try once more.",
    slow: "That was a little fast. Please wait a moment, then try again.",
    offline: "We cannot reach the service. Please check your connection, then try again.",
    technical: "Something went wrong on our side. It is not your fault. Please try again.",
  },
};
