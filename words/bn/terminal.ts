import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "আপনার পছন্দ [{default}]",
  otherWays: "খালি: অন্য উপায়",
  noPasskeys: "টার্মিনালে পাসকী ও সিকিউরিটি কী কাজ করে না।",
  openAddress: "এই ঠিকানাটি একটি ব্রাউজারে খুলুন এবং সেখানে সাইন ইন করুন:",
  enterCode: "একটি ব্রাউজারে {address} খুলুন এবং এই কোডটি লিখুন: {code}",
  yes: "হ্যাঁ",
  no: "না",
};
