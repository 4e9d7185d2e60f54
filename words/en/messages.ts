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
  linkTitle: "Almost there",
  linkSentence: "Press the button to go on where you began.",
  linkContinue: "Continue",
  linkElsewhereSentence:
    "This is not the browser or app in which you began. Press the button to see your code, and enter it there.",
  linkShowCode: "Show the code",
  linkCodeTitle: "Your code",
  linkCodeSentence:
    "Enter it in the browser or app in which you began. If you began nothing, close this page and do not pass the code on.",
  linkEndedTitle: "This link no longer works",
  linkEndedSentence:
    "It was used or has expired, or a newer message has replaced it. If you still need it, ask for a new code where you began.",
  signOutTitle: "Sign out?",
  signOutSentence:
    "This ends your session here. Applications that you opened with this sign-in may ask you to sign in again.",
  signOutButton: "Sign out",
  actAsTitle: "Sign in as {name}?",
  actAsSentence: "For {time} you see this account as its user does. What you do is recorded with your name.",
  actAsInstead:
    "This browser is signed in here already: it goes on with the new session alone, and you sign in again afterwards.",
  actAsButton: "Sign in",
  actAsGoneTitle: "This link is no longer valid",
  actAsGoneSentence:
    "It works once, for a minute, and in the browser that asked for it. Begin again in the console.",
  testTitle: "Test the sign-in?",
  testSentence:
    "What the provider states about you is shown to the operator of the console who began this test. You are not signed in here. If you did not begin it yourself, close this page.",
  testButton: "Continue",
  signedOutTitle: "You are signed out",
  signedOutSentence: "You can close this page.",
  signedOutNext: "Next, you are signed out at the provider that you signed in with.",
  signedOutOfApplications: "You are also being signed out of your applications.",
};
