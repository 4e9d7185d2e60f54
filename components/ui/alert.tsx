import { type ReactNode, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

/** Long enough for a screen reader to notice an empty live region (WAI-ARIA 1.2, 6.7.3). */
const UNTIL_NOTICED_MS = 100;

/** A message about the whole page. `error` interrupts a screen reader; `info` does not. Either is read out once. */
export function Alert({ tone, children }: { tone: "error" | "info"; children: ReactNode }) {
  // Screen readers read what is added to a region with the role `status`, not what it begins with.
  const [isRead, setIsRead] = useState(tone === "error" || typeof document === "undefined");
  useEffect(() => {
    const timer = setTimeout(() => setIsRead(true), UNTIL_NOTICED_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={`stile-alert stile-alert-${tone}`} role={tone === "error" ? "alert" : "status"}>
      <Icon name={tone === "error" ? "alert" : "info"} />
      <div className="stile-alert-text" aria-hidden={isRead ? undefined : true} suppressHydrationWarning>
        {children}
      </div>
    </div>
  );
}
