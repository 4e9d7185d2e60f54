import type { MarkdownRenderer } from "vitepress";

/** Shows `{{` as it is written: Vue, which draws the pages, would take it for the beginning of an expression. */
export function keepBraces({ renderer }: MarkdownRenderer): void {
  for (const name of ["text", "code_inline"] as const) {
    const drawn = renderer.rules[name];
    renderer.rules[name] = (...given) => (drawn?.(...given) ?? "").replaceAll("{{", "&#123;&#123;");
  }
}
