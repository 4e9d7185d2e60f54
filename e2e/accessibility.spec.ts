import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test as base, type CDPSession, expect, type Page } from "@playwright/test";
import { type Language, languageTags, type PageLanguage, pseudoTags } from "#words/language-tags";
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
 * - contrast: in every theme and colour scheme, for the page. The embeddings share its rules for colours; the frame of
 *   each is checked by the first test;
 * - names and languages: in every language, for each state. The words are all that differs, and they do not differ
 *   between the variants of a state.
 */
const test = base.extend<object, { studio: Studio }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
  studio: [async ({}, use) => use(await buildStudio()), { scope: "worker" }],
});

test.use({ viewport: { width: 390, height: 844 }, contextOptions: { reducedMotion: "reduce" } });

const defaultConfig = loadConfig({}, import.meta.dirname);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The colour scheme of each embedding's document. Element and React component have the same style sheet. */
const schemes: Record<Embedding, "light" | "dark"> = {
  page: "light",
  frame: "dark",
  react: "light",
  element: "dark",
};

/** Rules of axe that read words. */
const rulesOfWords = [
  ...[
    "button-name",
    "link-name",
    "label",
    "empty-heading",
    "summary-name",
    "image-alt",
    "aria-input-field-name",
  ],
  ...["label-content-name-mismatch", "valid-lang", "html-has-lang", "document-title", "link-in-text-block"],
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
  language?: Language;
  /** Names of rules; without them every rule of WCAG 2.2 AA and of good practice. */
  rules?: string[];
  /** Style sheets that each drawing is checked with. */
  themes?: string[];
}

/** Runs axe on every drawing of an open document. */
async function audit(
  page: Page,
  { embedding, language = "en", rules, themes = [""] }: Audit,
): Promise<string[]> {
  const failures = await page.evaluate(
    async ({ embedding, language, rules, themes }) => {
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      const theme = document.head.appendChild(document.createElement("style"));
      const failures: string[] = [];
      for (const name of window.stage.names(embedding)) {
        await window.stage.draw({ name, embedding, language });
        for (const css of themes) {
          theme.textContent = css;
          const { violations } = await window.axe.run(document, {
            runOnly: rules ? { type: "rule", values: rules } : { type: "tag", values: tags },
            resultTypes: ["violations"],
          });
          for (const { id, nodes } of violations)
            failures.push(
              ...nodes.map(({ html, any }) => `${name}: ${id}: ${html} ${any[0]?.message ?? ""}`),
            );
        }
      }
      theme.remove();
      return failures;
    },
    { embedding, language, themes, ...(rules ? { rules } : {}) },
  );
  return failures.filter((failure) => !exempt.has(failure.split(": ").slice(0, 2).join(": ")));
}

for (const [embedding, colorScheme] of Object.entries(schemes) as [Embedding, "light" | "dark"][])
  test(`assistive software can read everything as ${embedding}`, async ({ page, studio }) => {
    await page.emulateMedia({ colorScheme });
    await studio.open(page, embedding);
    await page.evaluate(axe);
    if (colorScheme === "dark") await page.addStyleTag({ content: "html { background: #121212 }" });
    expect(await audit(page, { embedding })).toEqual([]);
  });

test("texts have contrast in every theme, light and dark", async ({ page, studio }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.open(page, "page");
  await page.evaluate(axe);
  const { theme } = defaultConfig;
  const finished = (["slate", "paper"] as const).flatMap((preset) =>
    (["light", "dark"] as const).map((color_scheme) => themeCss({ ...theme, preset, color_scheme })),
  );
  const rules = ["color-contrast", "link-in-text-block"];
  expect(await audit(page, { embedding: "page", rules, themes: ["", ...finished] })).toEqual([]);
});

/** What does not fit: the page is wider than the window, or a text is wider or higher than what it stands in. */
function misfits(
  page: Page,
  embedding: Embedding,
  language: PageLanguage,
  rules: string[],
): Promise<string[]> {
  return page.evaluate(
    async ({ embedding, language, rules, states }) => {
      const failures: string[] = [];
      for (const name of window.stage.names(embedding)) {
        await window.stage.draw({ name, embedding, language });
        const root = document.documentElement;
        const fail = (text: string) => failures.push(`${language} ${name}: ${text}`);
        for (const { localName } of [...document.body.querySelectorAll("[hidden]")].filter((element) =>
          element.checkVisibility(),
        ))
          fail(`shows a hidden ${localName}`);
        if (root.scrollWidth > innerWidth) fail(`${root.scrollWidth - innerWidth} pixels too wide`);
        for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
          if (element.closest("svg, .stile-hidden, select, .stile-owner, .stile-code-field")) continue;
          const { overflowX, overflowY } = getComputedStyle(element);
          const cut =
            overflowX === "clip" || overflowX === "hidden" ? element.scrollWidth - element.clientWidth : 0;
          const low =
            overflowY === "clip" || overflowY === "hidden" ? element.scrollHeight - element.clientHeight : 0;
          if ((cut > 1 || low > 1) && !element.matches(".stile-page"))
            fail(`cut: ${element.outerHTML.slice(0, 200)}`);
          const { left, right, width } = element.getBoundingClientRect();
          if (width > 0 && (right > innerWidth + 1 || left < -1))
            fail(`outside: ${element.outerHTML.slice(0, 200)}`);
          // iOS zooms into fields with smaller letters.
          const typed = element.matches("input[type=text], input[type=email], input[type=password]");
          if (typed && Number.parseFloat(getComputedStyle(element).fontSize) < 16) fail("small letters");
        }
        if (rules.length === 0 || !states.includes(name)) continue;
        const { violations } = await window.axe.run(document, {
          runOnly: { type: "rule", values: rules },
          resultTypes: ["violations"],
        });
        for (const { id, nodes } of violations) for (const { html } of nodes) fail(`${id}: ${html}`);
      }
      return failures;
    },
    { embedding, language, rules, states: [...stateNames, ...Object.keys(confirmations)] },
  );
}

test("every language fits into 320 pixels, and names everything", async ({ page, studio }) => {
  await page.setViewportSize({ width: 320, height: 568 });
  await studio.open(page, "page");
  await page.evaluate(axe);
  const failures: string[] = [];
  for (const language of [...languageTags, ...pseudoTags])
    failures.push(...(await misfits(page, "page", language, rulesOfWords)));
  expect(failures).toEqual([]);
});

test("an element and a frame fit into 320 pixels", async ({ page, studio }) => {
  await page.setViewportSize({ width: 320, height: 568 });
  const failures: string[] = [];
  for (const embedding of ["element", "frame"] as const) {
    await studio.open(page, embedding);
    failures.push(...(await misfits(page, embedding, "de", [])));
  }
  expect(failures).toEqual([]);
});

test("text of twice the size fits", async ({ page, studio }) => {
  await page.setViewportSize({ width: 640, height: 900 });
  await studio.open(page, "page");
  await page.addStyleTag({ content: "html { font-size: 200% }" });
  expect(await misfits(page, "page", "en", [])).toEqual([]);
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
      const { violations } = await window.axe.run(document, {
        runOnly: { type: "rule", values: ["color-contrast"] },
        resultTypes: ["violations"],
      });
      for (const { id, nodes } of violations)
        for (const { html } of nodes) failures.push(`${name}: ${id}: ${html}`);
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
  return (root ? inOrder(root) : [])
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, description }) => ({
      role: text(role),
      name: text(name),
      description: text(description),
    }));
}
