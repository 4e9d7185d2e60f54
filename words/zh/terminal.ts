import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "请选择 [{default}]",
  otherWays: "留空：其他方式",
  noPasskeys: "终端中无法使用通行密钥和安全密钥。",
  openAddress: "请在浏览器中打开此地址并登录：",
  enterCode: "请在浏览器中打开 {address}，并输入此代码：{code}",
  yes: "是",
  no: "否",
};
