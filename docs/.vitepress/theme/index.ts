import DefaultTheme from "vitepress/theme";
import "./diagrams.css";
import { defineComponent, h, onMounted, ref } from "vue";

/** A diagram, drawn in the browser by a library that only pages with one load. Until then, and without scripts, its source. */
const MermaidDiagram = defineComponent({
  props: { source: { type: String, required: true } },
  setup({ source }) {
    const text = decodeURIComponent(source);
    const drawn = ref("");
    onMounted(async () => {
      const { default: mermaid } = await import("mermaid");
      const isDark = document.documentElement.classList.contains("dark");
      mermaid.initialize({ startOnLoad: false, theme: isDark ? "dark" : "neutral" });
      drawn.value = (await mermaid.render(`diagram-${crypto.randomUUID()}`, text)).svg;
    });
    return () =>
      drawn.value
        ? h("div", { class: "diagram", innerHTML: drawn.value })
        : h("pre", { class: "diagram" }, text);
  },
});

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { app: import("vue").App }) => app.component("MermaidDiagram", MermaidDiagram),
};
