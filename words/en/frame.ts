import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow: "Your browser keeps nothing for this part of the page. Continue in a window of its own.",
  openWindow: "Continue in a window",
  waiting: "Please continue in the window that has opened.",
  showWindow: "Show the window",
  cancel: "Cancel",
  blocked: "Your browser has blocked the window. Please allow it, then try again.",
  covered: "Something lies over this form, so your click was ignored. Please close what covers it.",
  tooSmall: "This form is too small to be used safely, so your click was ignored. Please enlarge the window.",
  closeWindow: "You can close this window now.",
  refusedTitle: "This cannot be shown here",
  refusedSentence:
    "The page that shows this sign-in is not known to the service. Please tell those who run it.",
};
