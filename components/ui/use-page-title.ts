import { useEffect } from "react";

/** Sets the title of the document, which the browser shows in its tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}
