/** What axe compares colours by: those of a text, and of everything that it stands on. */
const properties = [
  "color",
  "backgroundColor",
  "backgroundImage",
  "opacity",
  "fontSize",
  "fontWeight",
  "textShadow",
  "position",
  "filter",
  "visibility",
  "display",
] as const;

/** Attributes by which a style sheet may give an element more boxes, or which exempt its text from the rule. */
const attributes = new Set(["class", "type", "disabled", "hidden", "inert", "aria-disabled", "aria-hidden"]);

/** Each styling of an element within another → its number. Stylings are the same in all drawings of a document. */
const stylings = new Map<string, number>();
const judged = new Set<number>();

/** Over the box that the fence is drawn in, axe tells no background, not even that of the card before it. */
const withoutFence = new CSSStyleSheet();
withoutFence.replaceSync(".stile-card::before { content: none !important }");

/**
 * Judges the contrast of the texts of the document by axe, each styling once: a text with the colours, the size and
 * the ancestors of one that was judged before has its contrast. The other drawings of a document, and its other themes,
 * add few.
 *
 * @returns a line for each text that lacks contrast
 */
export async function lackOfContrast(): Promise<string[]> {
  const ofDrawing = new Map<Element, number>();
  const include: Element[] = [];
  for (const element of document.querySelectorAll("*")) {
    const styling = stylingOf(element, ofDrawing.get(element.parentElement as Element));
    ofDrawing.set(element, styling);
    if (judged.has(styling) || !hasText(element)) continue;
    judged.add(styling);
    include.push(element);
  }
  if (include.length === 0) return [];
  // The element has its own there.
  document.adoptedStyleSheets.push(withoutFence);
  const { violations } = await window.axe.run(
    { include },
    {
      runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
      resultTypes: ["violations"],
    },
  );
  document.adoptedStyleSheets.pop();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ""}`),
  );
}

function stylingOf(element: Element, parent = 0): number {
  const style = getComputedStyle(element);
  const values = properties.map((property) => style[property]);
  const marks = [...element.attributes]
    .filter(({ name }) => attributes.has(name))
    .map(({ name, value }) => `${name}=${value}`);
  const key = [parent, element.localName, ...marks, ...values].join("|");
  const number = stylings.get(key) ?? stylings.size + 1;
  stylings.set(key, number);
  return number;
}

const hasText = (element: Element) =>
  element.matches("body input, body select, body textarea") ||
  (document.body.contains(element) &&
    [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== ""));
