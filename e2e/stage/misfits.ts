/**
 * What of the document does not fit into the window: the page is wider, or an element is wider or higher than what it
 * stands in. A line for each.
 */
export function misfits(): string[] {
  const failures: string[] = [];
  for (const { localName } of [...document.body.querySelectorAll("[hidden]")].filter((element) =>
    element.checkVisibility(),
  ))
    failures.push(`shows a hidden ${localName}`);
  const tooWide = document.documentElement.scrollWidth - innerWidth;
  if (tooWide > 0) failures.push(`${tooWide} pixels too wide`);
  const exempt = new Set(
    document.body.querySelectorAll(
      ["svg", ".stile-hidden", "select", ".stile-owner", ".stile-code-field"]
        .flatMap((selector) => [selector, `${selector} *`])
        .join(),
    ),
  );
  for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
    if (exempt.has(element)) continue;
    const { overflowX, overflowY } = getComputedStyle(element);
    const cut =
      overflowX === "clip" || overflowX === "hidden" ? element.scrollWidth - element.clientWidth : 0;
    const low =
      overflowY === "clip" || overflowY === "hidden" ? element.scrollHeight - element.clientHeight : 0;
    if ((cut > 1 || low > 1) && !element.matches(".stile-page"))
      failures.push(`cut: ${element.outerHTML.slice(0, 200)}`);
    const { left, right, width } = element.getBoundingClientRect();
    if (width > 0 && (right > innerWidth + 1 || left < -1))
      failures.push(`outside: ${element.outerHTML.slice(0, 200)}`);
    // iOS zooms into fields with smaller letters.
    const typed = element.matches("input[type=text], input[type=email], input[type=password]");
    if (typed && Number.parseFloat(getComputedStyle(element).fontSize) < 16) failures.push("small letters");
  }
  return failures;
}
