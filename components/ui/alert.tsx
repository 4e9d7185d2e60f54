import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

/** A message about the whole page. `error` interrupts a screen reader; `info` does not. */
export function Alert({ tone, children }: { tone: "error" | "info"; children: ReactNode }) {
  return (
    <div className={`stile-alert stile-alert-${tone}`} role={tone === "error" ? "alert" : "status"}>
      <Icon name={tone === "error" ? "alert" : "info"} />
      <div className="stile-alert-text">{children}</div>
    </div>
  );
}
