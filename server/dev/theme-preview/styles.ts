import { showLogoFunction } from "../../preview/preview-document.ts";

/** The look of the page of themes around what it shows. Its own colours stay readable whatever the theme. */
export const themePreviewStyles = `
.try-body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); margin: 0; background: #6b7280; }
.try-settings { position: sticky; inset-block-start: 0; height: 100vh; box-sizing: border-box; overflow-y: auto; padding: 1.25rem; color: #14181d; background: #fff; color-scheme: light; font: 14px/1.45 -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; }
.try-settings h1 { margin: 0 0 1rem; font-size: 18px; }
.try-settings h2 { margin: 1.25rem 0 0.5rem; font-size: 14px; }
.try-settings label { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: 0.5rem; align-items: center; min-height: 2rem; }
.try-settings .color { grid-template-columns: 6rem minmax(0, 1fr) 2rem; }
.try-settings :is(select, input, button) { box-sizing: border-box; width: 100%; min-height: 1.75rem; font: inherit; }
.try-settings input[type="color"] { padding: 0; }
.try-settings button { margin-block-start: 1rem; }
.try-settings ul { margin: 0; padding-inline-start: 1.125rem; }
.try-settings .fault { color: #a3241b; }
.try-settings pre { overflow: auto; max-height: 20rem; margin: 0; padding: 0.75rem; font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; background: #f3f4f6; border-radius: 6px; user-select: all; white-space: pre-wrap; overflow-wrap: anywhere; }
.try-states { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1rem; padding: 1rem; align-items: start; }
.try-states > section { min-width: 0; overflow: hidden; isolation: isolate; background: var(--stile-ground); border-radius: 8px; }
.try-states > section > h2 { margin: 0; padding: 0.5rem 0.75rem; font: 12px/1.4 ui-monospace, Menlo, Consolas, monospace; color: #fff; background: #374151; }
.try-states .stile-page { min-height: 0; padding-block: 1.5rem; }
.try-states iframe { display: block; width: 100%; height: 26rem; border: 0; }
.try-states > section:has([data-wide]) { grid-column: span 2; }
@media (max-width: 60rem) { .try-body { display: block; } .try-settings { position: static; height: auto; } .try-states > section:has([data-wide]) { grid-column: auto; } }
`;

/** Shows every change at once: only the style sheet, the warnings and the configuration depend on it. */
export const themePreviewScript = `${showLogoFunction}
const form = document.querySelector("form");
const style = document.querySelector("link[data-tried]");
let logo = null;
async function show() {
  const query = new URLSearchParams(new FormData(form));
  history.replaceState(null, "", "?" + query);
  const answer = await fetch("/dev/theme/settings.json?" + query);
  if (!answer.ok) return;
  const tried = await answer.json();
  if (tried.faults.length === 0) style.href = "/dev/theme/style.css?" + query;
  for (const name of ["faults", "warnings"])
    document.getElementById(name).replaceChildren(...tried[name].map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  const configuration = JSON.parse(tried.configuration);
  if (logo) configuration.theme.logo = { light: logo };
  document.getElementById("configuration").textContent = JSON.stringify(configuration, null, 2);
}
form.addEventListener("input", ({ target }) => {
  const { color } = target.dataset;
  if (color) form.elements.namedItem(color).value = target.value;
  if (target.name === "lang") form.submit();
  else if (target.type === "file") readLogo(target.files[0]);
  else void show();
});
function readLogo(file) {
  const reader = new FileReader();
  reader.addEventListener("load", () => {
    logo = reader.result;
    showLogo(logo);
    void show();
  });
  if (file) reader.readAsDataURL(file);
}
document.querySelector("main").addEventListener("submit", (event) => event.preventDefault());
`;
