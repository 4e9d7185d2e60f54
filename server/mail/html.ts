/** Text that is HTML already. */
export interface Html {
  readonly markup: string;
}

type Value = string | number | Html | Value[];

/** HTML in which every value is text: whatever stands between `${` and `}` is escaped, unless it is `Html`. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return {
    markup: parts.map((part, index) => part + (index < values.length ? markup(values[index]) : "")).join(""),
  };
}

/** Takes text for HTML, unescaped; for what this program itself wrote. */
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
