import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test as base, type CDPSession, expect, type Page } from "@playwright/test";
import { languageTags, type PageLanguage, pseudoTags } from "#words/language-tags";
import { confirmations } from "../components/gallery/confirmations.ts";
import { loadConfig } from "../server/config/load.ts";
import { stateNames } from "../server/flow/names.ts";
import { themeCss } from "../server/theme/theme-css.ts";
import type { Embedding } from "./stage/stage.tsx";
import { buildStudio, type Studio } from "./stage/studio.ts";

/**
 * Every picture of the gallery × theme × language × embedding is accessible (WCAG 2.2 AA), in one browser page.
 *
 * What a rule of axe reads differs in few of these, so each is checked where it can differ:
 *
 * - structure, names and roles: in every embedding, because each has a frame of its own around the same content;
 * - contrast: in every embedding, and for the page in every theme and colour scheme, each styling once
 *   (`stage/contrast.ts`);
 * - names, and what fits into a narrow window: in every language. The words are all that differs, so what was drawn is
 *   translated, and names are judged for all states of a language at once.
 */
const test = base.extend<object, { studio: Studio }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
  studio: [async ({}, use) => use(await buildStudio()), { scope: "worker" }],
});

test.use({ viewport: { width: 390, height: 844 }, contextOptions: { reducedMotion: "reduce" } });

const defaultConfig = loadConfig({}, import.meta.dirname);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Rules of axe that read words. */
const rulesOfWords = [
  "button-name",
  "link-name",
  "label",
  "empty-heading",
  "summary-name",
  "image-alt",
  "aria-input-field-name",
  "label-content-name-mismatch",
  "valid-lang",
  "html-has-lang",
];

/** The skeleton before the first answer has a status in place of a heading. */
const exempt = new Set(["preflight: page-has-heading-one"]);

declare global {
  interface Window {
    axe: typeof import("axe-core");
  }
}

interface Audit {
  embedding: Embedding;
  languages: PageLanguage[];
  /** Style sheets that the contrast of each drawing is judged with; without them, what can be read is not judged. */
  themes?: string[];
  /** Whether each drawing has to fit into the window. */
  fits?: true;
  /** Whether everything has a name in each of the languages. */
  named?: true;
}

/** Draws everything that an open document can draw, and tells what is wrong with it. */
async function audit(page: Page, options: Audit): Promise<string[]> {
  await page.evaluate(axe);
  const failures = await page.evaluate(
    async ({ embedding, languages, themes, fits, rulesOfWords, states }) => {
      const [first = "en"] = languages;
      const theme = document.head.appendChild(document.createElement("style"));
      const failures: string[] = [];
      /** Each state as it was drawn in a language, in a tree of its own, because ids are unique in a tree. */
      const drawn = new Map(languages.map((language) => [language, [] as HTMLElement[]]));
      for (const name of window.stage.names(embedding)) {
        const fail = (text: string) => failures.push(`${name}: ${text}`);
        await window.stage.draw({ name, embedding, language: first });
        if (themes) {
          const { violations } = await window.axe.run(document, {
            runOnly: {
              type: "tag",
              values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
            },
            rules: { "color-contrast": { enabled: false } },
            resultTypes: ["violations"],
          });
          for (const { id, nodes } of violations)
            for (const { html, any } of nodes) fail(`${id}: ${html} ${any[0]?.message ?? ""}`);
        }
        for (const css of themes ?? []) {
          theme.textContent = css;
          // The page of a message has no fence, so it would have no ground.
          const root = getComputedStyle(document.documentElement);
          if (css.includes("--stile-fence") && !root.getPropertyValue("--stile-fence")) continue;
          for (const text of await window.stage.lackOfContrast()) fail(text);
        }
        theme.textContent = "";
        if (fits || rulesOfWords)
          for (const language of languages) {
            if (language !== first || languages.length > 1) window.stage.translate(language);
            if (fits) for (const text of window.stage.misfits()) fail(`${language}: ${text}`);
            if (!rulesOfWords || !states.includes(name)) continue;
            const host = document.createElement("div");
            host.id = name;
            host.attachShadow({ mode: "open" }).append(document.body.cloneNode(true));
            drawn.get(language)?.push(host);
          }
      }
      theme.remove();
      if (!rulesOfWords) return failures;
      for (const [language, hosts] of drawn) {
        window.stage.translate(language);
        document.body.replaceChildren(...hosts);
        const { violations } = await window.axe.run(document, {
          runOnly: { type: "rule", values: rulesOfWords },
          resultTypes: ["violations"],
        });
        for (const { id, nodes } of violations)
          for (const { html, target } of nodes)
            failures.push(`${language}: ${id}: ${html} ${target.flat().join(" ")}`);
      }
      return failures;
    },
    {
      ...options,
      rulesOfWords: options.named ? rulesOfWords : null,
      states: [...stateNames, ...Object.keys(confirmations)],
    },
  );
  return failures.filter((failure) => !exempt.has(failure.split(": ").slice(0, 2).join(": ")));
}

test("assistive software can read every page, and texts have contrast in every theme, light and dark", async ({
  page,
  studio,
}) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.open(page, "page");
  const { theme } = defaultConfig;
  const themes = ([theme.preset, "slate", "paper"] as const).flatMap((preset) =>
    (["light", "dark"] as const).map((color_scheme) => themeCss({ ...theme, preset, color_scheme })),
  );
  // What stands beside the card may stand on the fence.
  const onFence = ["", ...themes.slice(0, 1)].map(
    (css) => `${css} :root { --stile-ground: var(--stile-fence) !important }`,
  );
  const all = ["", ...themes, ...onFence];
  expect(await audit(page, { embedding: "page", languages: ["en"], themes: all })).toEqual([]);
});

/** Element and React component have the same style sheet. */
for (const [embedding, colorScheme] of [
  ["frame", "dark"],
  ["react", "light"],
  ["element", "dark"],
] as const)
  test(`assistive software can read everything as ${embedding}, which fits into 320 pixels`, async ({
    page,
    studio,
  }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 320, height: 568 });
    await studio.open(page, embedding);
    if (colorScheme === "dark") await page.addStyleTag({ content: "html { background: #121212 }" });
    // German words are long.
    expect(await audit(page, { embedding, languages: ["de"], themes: [""], fits: true })).toEqual([]);
  });

test("every language fits into 320 pixels, and names everything", async ({ page, studio }) => {
  await page.setViewportSize({ width: 320, height: 568 });
  await studio.open(page, "page");
  const languages = [...languageTags, ...pseudoTags];
  expect(await audit(page, { embedding: "page", languages, fits: true, named: true })).toEqual([]);
});

test("text of twice the size fits", async ({ page, studio }) => {
  await page.setViewportSize({ width: 640, height: 900 });
  await studio.open(page, "page");
  await page.addStyleTag({ content: "html { font-size: 200% }" });
  expect(await audit(page, { embedding: "page", languages: ["en"], fits: true })).toEqual([]);
});

test("with forced colours every text has contrast, and every control an edge and a visible focus; nothing moves where motion is reduced", async ({
  page,
  studio,
}) => {
  await page.emulateMedia({ forcedColors: "active" });
  await studio.open(page, "page");
  await page.evaluate(axe);
  const failures = await page.evaluate(async () => {
    const failures: string[] = [];
    const isDrawn = (element: Element | null | undefined) => {
      if (!element) return false;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      return (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0) || boxShadow !== "none";
    };
    for (const name of window.stage.names("page")) {
      await window.stage.draw({ name, embedding: "page", language: "en" });
      for (const animation of document.getAnimations()) {
        const { duration } = animation.effect?.getComputedTiming() ?? {};
        if (animation.playState === "running" && typeof duration === "number" && duration > 0)
          failures.push(`${name}: moves: ${(animation as CSSAnimation).animationName}`);
      }
      for (const text of await window.stage.lackOfContrast()) failures.push(`${name}: ${text}`);
      // The cells of a code are the edge of its field; the button in a password's field has that of the field.
      const edged = "button, .stile-button, input:not(.stile-code-input), select, textarea, .stile-code-cell";
      const plain = ".stile-button-link, .stile-button-back, .stile-reveal, [type=checkbox]";
      for (const control of document.querySelectorAll<HTMLElement>(edged)) {
        const { borderTopStyle, borderTopWidth, opacity } = getComputedStyle(control);
        if (!control.checkVisibility() || control.matches(plain) || opacity === "0") continue;
        if (borderTopStyle === "none" || Number.parseFloat(borderTopWidth) === 0)
          failures.push(`${name}: no edge: ${control.outerHTML.slice(0, 160)}`);
      }
      const focusable = "a[href], button, input:not([type=hidden], [tabindex]), select, textarea, summary";
      for (const control of document.querySelectorAll<HTMLElement>(focusable)) {
        control.focus();
        if (document.activeElement !== control) continue;
        const cell = control.parentElement?.parentElement?.querySelector(".stile-code-cell[data-active]");
        if (![control, control.parentElement, control.nextElementSibling, cell].some(isDrawn))
          failures.push(`${name}: no focus: ${control.outerHTML.slice(0, 160)}`);
      }
    }
    return failures;
  });
  expect(failures).toEqual([]);
});

test("the keyboard reaches everything in the order in which it is read, and leaves it", async ({
  page,
  studio,
}) => {
  await studio.open(page, "page");
  const client = await page.context().newCDPSession(page);
  const tab = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 };
  const failures: string[] = [];
  for (const name of await page.evaluate(() => window.stage.names("page"))) {
    const count = await page.evaluate(async (name) => {
      await window.stage.draw({ name, embedding: "page", language: "en" });
      const native = "a[href], button, input:not([type=hidden]), select, textarea, summary";
      const controls = [...document.querySelectorAll<HTMLElement>(native)].filter(
        (control) =>
          control.tabIndex >= 0 &&
          control.checkVisibility({ visibilityProperty: true }) &&
          !control.matches(":disabled"),
      );
      // Nothing else is operated: a control that is none would not answer to Enter and Space.
      const others = document.querySelectorAll(
        `[tabindex="0"], [role=button], [role=link], [contenteditable]`,
      );
      const reached: number[] = [];
      document.body.firstElementChild?.addEventListener("focusin", ({ target }) => {
        // The heading of a new state is focused by a script.
        if ((target as HTMLElement).tabIndex >= 0) reached.push(controls.indexOf(target as HTMLElement));
      });
      Object.assign(window, { reached });
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      getSelection()?.removeAllRanges();
      document.body.tabIndex = -1;
      document.body.focus();
      reached.length = 0;
      return others.length === 0 ? controls.length : -1;
    }, name);
    // The browser takes them in order; none waits for the answer to the one before.
    const strokes = Array.from({ length: Math.max(0, count) }, () => ["rawKeyDown", "keyUp"] as const).flat();
    await Promise.all(strokes.map((type) => client.send("Input.dispatchKeyEvent", { type, ...tab })));
    const reached = await page.evaluate(() => (window as unknown as { reached: number[] }).reached);
    // Radio buttons are one stop; there are none here.
    const expected = Array.from({ length: count }, (_, index) => index);
    if (count < 0) failures.push(`${name}: a control that is not one of HTML's`);
    else if (reached.join() !== expected.join()) failures.push(`${name}: ${reached.join()} of ${count}`);
  }
  expect(failures).toEqual([]);
});

test("a screen reader says heading, account, alert, fields and the main action in this order", async ({
  page,
  studio,
}) => {
  await studio.open(page, "page");
  const client = await page.context().newCDPSession(page);
  await client.send("Accessibility.enable");
  const failures: string[] = [];
  for (const name of await page.evaluate(() => window.stage.names("page"))) {
    const wanted = await page.evaluate(async (name) => {
      await window.stage.draw({ name, embedding: "page", language: "en" });
      const isShown = (element: HTMLElement) =>
        element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      const text = (selector: string) => {
        const found = [...document.querySelectorAll<HTMLElement>(selector)].find(isShown);
        return (
          found?.innerText
            .split("\n")
            .find((line) => line.trim() !== "")
            ?.trim() ?? null
        );
      };
      const isAccount = document.querySelector(".stile-page[data-wide]") !== null;
      const field = [...document.querySelectorAll<HTMLInputElement>(".stile-form-primary input")].find(
        (input) => input.type !== "hidden" && input.tabIndex >= 0 && isShown(input),
      );
      const others = [
        ...document.querySelectorAll<HTMLElement>(".stile-choices button, .stile-minor button"),
      ].filter(isShown);
      return {
        heading: text("h1"),
        identity: text(".stile-identity strong"),
        // What is to be said about a frame stands above its flow.
        alert: text("[role=alert]:not(.stile-frame > .stile-alert, .stile-frame > .stile-alert *)"),
        field: isAccount ? null : (field?.labels?.[0]?.innerText.trim() ?? null),
        error: field?.getAttribute("aria-invalid") === "true",
        main: isAccount ? null : text("button.stile-button-primary .stile-button-text"),
        // What saves the codes stands before the button that says that they are saved.
        other:
          isAccount || document.querySelector(".stile-codes")
            ? null
            : (others
                .at(-1)
                ?.querySelector<HTMLElement>(".stile-button-text")
                ?.innerText.split("\n")[0]
                ?.trim() ?? null),
      };
    }, name);
    const nodes = await spokenNodes(client);
    const at = (role: RegExp, words: string | null) =>
      words === null ? null : nodes.findIndex((node) => role.test(node.role) && node.name.includes(words));
    const places = {
      heading: at(/^heading$/, wanted.heading),
      identity: at(/^StaticText$/, wanted.identity),
      alert: at(/^(alert|StaticText)$/, wanted.alert),
      field: at(/^textbox$/, wanted.field),
      main: at(/^button$/, wanted.main),
      ...(wanted.other === wanted.main ? {} : { other: at(/^button$/, wanted.other) }),
    };
    const told = Object.entries(places).filter(([, place]) => place !== null) as [string, number][];
    const order = told.map(([, place]) => place);
    if (order.some((place, index) => place <= (order[index - 1] ?? -1)))
      failures.push(
        `${name}: ${told.map((each) => each.join(" at ")).join(", ")}: ${JSON.stringify(wanted)}`,
      );
    const field = nodes[places.field ?? -1];
    if (wanted.error && field?.description === "") failures.push(`${name}: the field does not say its error`);
    const nameless = nodes.filter(
      ({ role, name }) => /^(button|link|textbox|checkbox|combobox)$/.test(role) && name === "",
    );
    failures.push(...nameless.map(({ role }) => `${name}: a ${role} without a name`));
  }
  expect(failures).toEqual([]);
});

/** What a screen reader meets, in order. */
async function spokenNodes(
  client: CDPSession,
): Promise<{ role: string; name: string; description: string }[]> {
  const { nodes } = await client.send("Accessibility.getFullAXTree");
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const inOrder = (node: (typeof nodes)[number]): typeof nodes => [
    node,
    ...(node.childIds ?? []).flatMap((id) => {
      const child = byId.get(id);
      return child ? inOrder(child) : [];
    }),
  ];
  const [root] = nodes;
  const text = (value: { value?: unknown } | undefined) => String(value?.value ?? "");
  const spoken = (root ? inOrder(root) : [])
    .filter(({ ignored, role }) => !ignored && text(role) !== "InlineTextBox")
    .map(({ parentId, role, name, description }) => ({
      parentId,
      role: text(role),
      name: text(name),
      description: text(description),
    }));
  // A text with places to break is several nodes of one element, which are read as one.
  return spoken.flatMap((node, index) => {
    const isText = ({ role }: { role: string }) => role === "StaticText";
    const continues = (one: typeof node | undefined) =>
      one !== undefined && isText(one) && one.parentId === node.parentId;
    if (isText(node) && continues(spoken[index - 1])) return [];
    const rest = isText(node) ? spoken.slice(index + 1) : [];
    const end = rest.findIndex((one) => !continues(one));
    const parts = rest.slice(0, end === -1 ? rest.length : end);
    return [{ ...node, name: [node, ...parts].map(({ name }) => name).join("") }];
  });
}
