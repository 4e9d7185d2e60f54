import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "此处没有页面",
  notFoundSentence: "地址可能输入有误，或页面已移动。",
  tooManyTitle: "请稍候",
  tooManySentence: "此页面刚才被频繁打开。请等待 {time}，然后重新加载。",
  badReturnTitle: "此链接无效",
  badReturnSentence:
    "您来自的应用要求我们把您转到一个我们不认识的地址，因此我们停在了这里。您的账户没有受到任何影响。请回到该应用；它的开发者可以解决这个问题。",
  backTo: "返回 {host}",
  badLinkSentence: "地址不完整或已失效。请返回上一页，或重新开始。",
};
