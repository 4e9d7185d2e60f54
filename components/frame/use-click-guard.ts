import { type RefObject, useEffect, useState } from "react";

/** Why a click was ignored: the name of its words. */
export type IgnoredClick = "covered" | "tooSmall";

/** Smaller frames do not show what a click does. */
const MIN_WIDTH = 200;
const MIN_HEIGHT = 120;

/** Intersection Observer v2, which tells whether a control is drawn as it is, uncovered; Chromium has it. */
type Options = IntersectionObserverInit & { trackVisibility: boolean; delay: number };
type Entry = IntersectionObserverEntry & { isVisible?: boolean };

const RECHECK_MS = 200;

const controls = "button, summary, a[href]";

/**
 * Ignores clicks in a frame that is covered, transparent or too small: the page around it may mislead the user
 * (clickjacking). Where the browser does not tell whether a control is covered, only the size is checked.
 *
 * @returns why the last click was ignored; null if it was not
 */
export function useClickGuard(container: RefObject<HTMLElement | null>): IgnoredClick | null {
  const [ignored, setIgnored] = useState<IgnoredClick | null>(null);

  useEffect(() => {
    const root = container.current;
    if (!root || window.parent === window) return;
    const shown = new WeakMap<Element, boolean>();
    const observer = visibilityObserver((element, visible) => shown.set(element, visible));
    const observeAll = () => {
      for (const control of root.querySelectorAll(controls))
        if (!shown.has(control)) observer?.observe(control);
    };
    const changes = new MutationObserver(observeAll);
    changes.observe(root, { childList: true, subtree: true });
    observeAll();

    const onClick = (event: Event) => {
      const control = event.target instanceof Element ? event.target.closest(controls) : null;
      if (!control) return;
      const reason = tooSmall() ? "tooSmall" : observer && shown.get(control) === false ? "covered" : null;
      setIgnored(reason);
      if (!reason) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    // A form that is sent by the return key clicks its button.
    addEventListener("click", onClick, { capture: true });
    return () => {
      removeEventListener("click", onClick, { capture: true });
      changes.disconnect();
      observer?.disconnect();
    };
  }, [container]);

  return ignored;
}

const tooSmall = () => window.innerWidth < MIN_WIDTH || window.innerHeight < MIN_HEIGHT;

function visibilityObserver(
  report: (element: Element, visible: boolean) => void,
): IntersectionObserver | null {
  const options: Options = { trackVisibility: true, delay: 100, threshold: [0, 0.5, 1] };
  const supported =
    typeof IntersectionObserverEntry === "function" && "isVisible" in IntersectionObserverEntry.prototype;
  if (!supported) return null;
  const observer = new IntersectionObserver((entries: Entry[]) => {
    for (const { target, isVisible, isIntersecting } of entries) {
      const visible = isVisible === true || !isIntersecting;
      report(target, visible);
      if (!visible) setTimeout(() => observeAgain(target), RECHECK_MS);
    }
  }, options);
  /** A page at rest draws nothing, and the browser judges a control when it draws. */
  const observeAgain = (target: Element) => {
    observer.unobserve(target);
    if (target.isConnected) observer.observe(target);
  };
  return observer;
}
