import type { MarkdownRenderer } from "vitepress";

/** Draws blocks of the language `mermaid` with the component of `theme/index.ts`, as the repository's host does. */
export function drawMermaid(markdown: MarkdownRenderer): void {
  const others = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() !== "mermaid") return others?.(tokens, index, options, env, self) ?? "";
    return `<MermaidDiagram source="${encodeURIComponent(token.content)}" />`;
  };
}
