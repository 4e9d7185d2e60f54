import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "এখানে কোনো পৃষ্ঠা নেই",
  notFoundSentence: "ঠিকানায় ভুল থাকতে পারে, অথবা পৃষ্ঠাটি সরানো হয়েছে।",
  tooManyTitle: "একটু অপেক্ষা করুন",
  tooManySentence: "এইমাত্র এই পৃষ্ঠা অনেকবার খোলা হয়েছে। {time} অপেক্ষা করে আবার লোড করুন।",
  badReturnTitle: "এই লিংক কাজ করে না",
  badReturnSentence:
    "অ্যাপ্লিকেশনটি আপনাকে এমন ঠিকানায় পাঠাতে চেয়েছে যা আমরা চিনি না। আপনার অ্যাকাউন্টে কিছুই হয়নি। সেখানে ফিরে যান; এর নির্মাতারা এটি ঠিক করতে পারবেন।",
  backTo: "{host}-এ ফিরে যান",
  badLinkSentence: "ঠিকানায় কিছু বাদ পড়েছে, অথবা এটি আর বৈধ নয়। আগের জায়গায় ফিরে যান, অথবা নতুন করে শুরু করুন।",
};
