/** Markup that is inserted unescaped. */
export interface Html {
  readonly markup: string;
}

type Value = string | number | Html | Value[];

/** A template tag for HTML: escapes every value unless it is `Html`. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return {
    markup: parts.map((part, index) => part + (index < values.length ? markup(values[index]) : "")).join(""),
  };
}

/** Marks text as HTML, unescaped; only for text from this program itself. */
export function trusted(text: string): Html {
  return { markup: text };
}

function markup(value: Value | undefined): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.map(markup).join("");
  return typeof value === "object" ? value.markup : escapeHtml(String(value));
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
