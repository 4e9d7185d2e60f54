import type { ReactNode } from "react";
import type { FlowWords } from "#words/flow";
import { ErrorBoundary } from "../../components/ui/error-boundary.tsx";

/** Draws a page, or says in its place that drawing it failed. */
export function Failing({
  words: { errors, page },
  children,
}: {
  words: Pick<FlowWords, "errors" | "page">;
  children: ReactNode;
}) {
  return (
    <ErrorBoundary title={page.errorTitle} sentence={errors.technical_error} reload={page.reload}>
      {children}
    </ErrorBoundary>
  );
}
