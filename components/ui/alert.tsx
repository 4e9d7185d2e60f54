import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

/** Something to know about the page as a whole. `problem` interrupts a screen reader, `news` waits its turn. */
export function Alert({ tone, children }: { tone: "problem" | "news"; children: ReactNode }) {
  return (
    <div className={`stile-alert stile-alert-${tone}`} role={tone === "problem" ? "alert" : "status"}>
      <Icon name={tone === "problem" ? "alert" : "info"} />
      <div className="stile-alert-text">{children}</div>
    </div>
  );
}
