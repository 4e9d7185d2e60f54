import { useEffect, useState } from "react";

/**
 * Seconds left of a wait, updated once a second.
 *
 * @param seconds the whole wait; 0 for none
 * @param since the wait starts again when this changes
 */
export function useCountdown(seconds: number, since: unknown): number {
  const [secondsLeft, setSecondsLeft] = useState(seconds);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the wait starts again when `since` changes
  useEffect(() => {
    setSecondsLeft(seconds);
    if (seconds <= 0) return;
    const end = Date.now() + seconds * 1000;
    const timer = setInterval(() => {
      const remaining = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      setSecondsLeft(remaining);
      if (remaining === 0) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [seconds, since]);
  return secondsLeft;
}

/** 75 as `1:15`. */
export function clockTime(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
