import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow: "您的浏览器不会为页面的这一部分保存任何内容。请在单独的窗口中继续。",
  openWindow: "在窗口中继续",
  waiting: "请在已打开的窗口中继续。",
  showWindow: "显示窗口",
  cancel: "取消",
  blocked: "您的浏览器阻止了该窗口。请允许后重试。",
  covered: "有内容遮住了此表单，因此您的点击被忽略。请关闭遮挡的内容。",
  tooSmall: "此表单太小，无法安全使用，因此您的点击被忽略。请放大窗口。",
  closeWindow: "您现在可以关闭此窗口。",
  refusedTitle: "此内容无法在这里显示",
  refusedSentence: "显示此登录的页面不为本服务所知。请告知其运营者。",
};
