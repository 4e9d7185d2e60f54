/** The texts of a flow in a frame of another page, and of the window that goes on with it. */
export interface FrameWords {
  /** Shown where the browser keeps nothing for a page in a frame. */
  needsWindow: string;
  openWindow: string;
  /** Shown in the frame while the window is open. */
  waiting: string;
  showWindow: string;
  cancel: string;
  /** The browser has not opened the window. */
  blocked: string;
  /** A click was ignored because something lies over the frame. */
  covered: string;
  /** A click was ignored because the frame is too small. */
  tooSmall: string;
  /** Shown in the window when it is no longer needed. */
  closeWindow: string;
  /** The page around the frame is not on the list, or asks in a wrong way. */
  refusedTitle: string;
  refusedSentence: string;
}
