"use client";

import { useLayoutEffect, useRef } from "react";

/** Where the keyboard goes on once what had the focus is gone (WCAG 2.2, 2.4.3). */

/** The id of the content of a page. */
export const CONTENT = "content";

/** By then the library has returned the focus where it does, and buttons can be pressed again. */
const SETTLED_MS = 50;

const hasFocus = () => document.activeElement !== null && document.activeElement !== document.body;

/** Moves the focus to the content of the page. */
export const focusContent = () => document.getElementById(CONTENT)?.focus({ preventScroll: true });

/** Moves the focus to the content of the page if no element gets it. */
export const keepFocus = () => void setTimeout(() => hasFocus() || focusContent(), SETTLED_MS);

/** Gives the focus back to an element that has lost it, because it was disabled meanwhile. */
export function returnFocus(element: Element | null): void {
  setTimeout(() => {
    if (!hasFocus() && element instanceof HTMLElement) element.focus({ preventScroll: true });
  }, SETTLED_MS);
}

/**
 * In a window: what had the focus before gets it again, or else the content of the page. The library does so for windows that
 * stay mounted beside the button that opens them.
 */
export function ReturnedFocus() {
  const mark = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const opened = mark.current?.closest('[role="dialog"]');
    return () => {
      if (hasFocus() && !opened?.contains(document.activeElement)) return;
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
      keepFocus();
    };
  }, []);
  return <span ref={mark} hidden />;
}
