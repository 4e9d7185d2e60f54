import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "您同意以下内容吗？",
  sentence: "{application} 请求您的同意。您的通行密钥将对您在此处看到的内容签名。",
  agreement: "您同意的内容",
  confirm: "使用通行密钥确认",
  decline: "拒绝",
  returning: "之后您将返回 {host}。",
  exact: "显示原文",
  exactSentence: "以下是逐字符签名的内容：业务标识和数据。",
  hides: "其中包含不可见的字符，我们已将其标出。如有疑问，请拒绝。",
  unseen: "不可见字符 {code}",
  yes: "是",
  no: "否",
  nothing: "无",
  empty: "空",
  noScript: "通行密钥需要 JavaScript。请为此页面启用 JavaScript，然后重新加载。",
  redirecting: "正在返回 {host}。",
  continueAt: "前往 {host}",
  ends: {
    confirmed: { title: "谢谢，已确认", sentence: "现在可以关闭此页面。" },
    declined: { title: "您已拒绝", sentence: "未签署任何内容。现在可以关闭此页面。" },
    expired: {
      title: "用时过长",
      sentence: "为了您的安全，页面已关闭，未签署任何内容。请返回您来的地方重新开始。",
    },
    answered: { title: "此请求已答复", sentence: "这里无需再做任何操作。现在可以关闭此页面。" },
    unknown: {
      title: "此页面已关闭",
      sentence: "可能已经答复，或已过期。请返回您来的地方重新开始。",
    },
  },
  errors: {
    cancelled: "未使用通行密钥，因此未签署任何内容。您可以重试或拒绝。",
    failed: "浏览器无法在此使用通行密钥。未签署任何内容。",
    unsupported: "此浏览器不支持通行密钥。请在其他设备上打开此页面，或拒绝。",
    refused: "无法接受此通行密钥。未签署任何内容。请重试。",
    slow: "操作过快。请稍候再试。",
    offline: "无法连接到服务。请检查您的网络连接，然后重试。",
    technical: "我们这边出现了问题，与您无关。请重试。",
  },
};
