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
  linkTitle: "就快完成了",
  linkSentence: "请按下按钮，从您开始的地方继续。",
  linkContinue: "继续",
  linkElsewhereSentence: "您是在另一个浏览器或应用中开始的。请按下按钮查看验证码，并在那里输入。",
  linkShowCode: "显示验证码",
  linkCodeTitle: "您的验证码",
  linkCodeSentence:
    "请在您开始操作的浏览器或应用中输入。如果您没有进行任何操作，请关闭此页面，不要把验证码告诉他人。",
  linkEndedTitle: "此链接已失效",
  linkEndedSentence:
    "它已被使用、已过期，或已被更新的邮件取代。如果仍然需要，请在您开始的地方重新获取验证码。",
  signOutTitle: "要退出登录吗？",
  signOutSentence: "您在此处的会话将结束。您用此次登录打开的应用可能会要求您重新登录。",
  signOutButton: "退出登录",
  actAsTitle: "以 {name} 的身份登录？",
  actAsSentence: "在 {time} 内，您将看到与该用户所见相同的账号。您的操作会以您的名义记录。",
  actAsInstead: "此浏览器已在此处登录：它将只使用新的会话，之后您需要重新登录。",
  actAsButton: "登录",
  actAsGoneTitle: "此链接已失效",
  actAsGoneSentence: "它只能在请求它的浏览器中使用一次，有效期一分钟。请在控制台中重新开始。",
  testTitle: "测试登录？",
  testSentence:
    "提供方告知的有关您的信息将显示给在控制台中开始此测试的人员。您不会在此登录。如果不是您本人开始的测试，请关闭此页面。",
  testButton: "继续",
  signedOutTitle: "您已退出登录",
  signedOutSentence: "您可以关闭此页面。",
  signedOutNext: "接下来，您还将退出登录时所用的身份提供方。",
  signedOutOfApplications: "您也正在退出您使用过的应用。",
};
