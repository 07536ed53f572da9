// A browser in front of VS Code's workbench. Reads one JSON call a line ({"do": NAME, ...}) and answers each with one.
// Usage: node drive.mjs FOLDER-OF-PLAYWRIGHT CHROMIUM
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const windows = [];
let page = await window(0);

/** The key that closes everything in a window; tests/support/editors/vscode.py binds it. */
const CLEAR = "Control+Alt+Shift+F9";
const IDLE = '.statusbar-item:has-text("Stet ✓")';
const EMPTY = ".part.editor:not(:has(.tab))";
const LEFT = ".notification-toast, .markers-panel";

/** The window of a number, which is opened if there is none yet. */
async function window(number) {
  if (windows[number] === undefined) {
    windows[number] = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    windows[number].setDefaultTimeout(90_000);
  }
  return windows[number];
}

/** Repeats an attempt of a few seconds: a workbench that is still starting drops keys and closes menus. */
async function insist(attempt) {
  for (const end = Date.now() + 90_000; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await page.keyboard.press("Escape");
    }
  }
}

const calls = {
  /** Leaves the workbench, with its unsaved text. */
  leave: async () => {
    page.removeAllListeners("dialog");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto("about:blank");
  },
  /** Opens the workbench anew, with a file in it. */
  open: async ({ url }) => {
    await page.goto(url);
    await page.locator(".monaco-editor .view-lines").first().waitFor();
  },
  /** Closes what is open in the window, without saving; false if that fails or something still runs. */
  clear: async () => {
    if (!page.url().startsWith("http")) return false;
    try {
      await page.keyboard.press("Escape");
      await page.keyboard.press(CLEAR);
      const unsaved = page.locator('.monaco-dialog-box .monaco-button:has-text("Don\'t Save")');
      await unsaved.or(page.locator(EMPTY)).first().waitFor({ timeout: 5_000 });
      if (await unsaved.isVisible()) await unsaved.click();
      await page.locator(EMPTY).waitFor({ timeout: 5_000 });
      await page.locator(LEFT).first().waitFor({ state: "hidden", timeout: 5_000 });
      await page.locator(IDLE).waitFor({ timeout: 5_000 });
      return true;
    } catch {
      return false;
    }
  },
  /** Opens a file in the window as it is, through Quick Open, which takes a path. */
  file: async ({ path }) => {
    const name = path.split("/").at(-1);
    await insist(async () => {
      await page.keyboard.press("Control+P");
      await page.locator(".quick-input-widget input").fill(path, { timeout: 6_000 });
      await page.locator(`.quick-input-list .monaco-list-row.focused:has-text("${name}")`).waitFor({ timeout: 10_000 });
      await page.keyboard.press("Enter");
      await page.locator(`.tab.active:has-text("${name}")`).waitFor({ timeout: 10_000 });
    });
    await page.locator(".editor-instance .monaco-editor .view-lines").first().waitFor();
  },
  /** What follows happens in the window of this number. */
  window: async ({ number }) => {
    page = await window(number);
    await page.bringToFront();
  },
  /** Runs a command of the palette by its title. */
  palette: ({ title }) =>
    insist(async () => {
      await page.keyboard.press("F1");
      await page.locator(".quick-input-widget input").fill(`>${title}`, { timeout: 6_000 });
      await page.locator(`.quick-input-list .monaco-list-row.focused:has-text("${title}")`).waitFor({ timeout: 10_000 });
      await page.keyboard.press("Enter");
    }),
  /** Picks a code action at the cursor by its title. The menu lacks it until the server has seen the file. */
  choose: async ({ title }) => {
    const rows = ".action-widget .monaco-list-row";
    const row = `${rows}:has-text("${title}")`;
    await page.mouse.move(1, 1); // a menu that opens under the pointer takes its focus from there
    await insist(async () => {
      await page.keyboard.press("Control+.");
      await page.locator(`${rows}, .monaco-editor-overlaymessage`).first().waitFor({ timeout: 6_000 });
      await page.locator(row).first().waitFor({ timeout: 500 });
      for (let steps = 0; (await page.locator(row).and(page.locator(".focused")).count()) === 0; steps++) {
        if (steps === 40) throw new Error(`the menu closed before "${title}" was reached`);
        await page.keyboard.press("ArrowDown");
      }
      await page.keyboard.press("Enter");
    });
  },
  press: ({ key }) => page.keyboard.press(key),
  /** When a key's event came, in milliseconds since 1970, and the milliseconds from there until a frame of the page shows a text in such an element, and no `gone` any more. */
  clock: async ({ key, selector, text, gone }) => {
    await page.evaluate((wanted) => {
      window.stetClock = new Promise((resolve) => {
        const begin = ({ key, timeStamp }) => {
          if (key !== wanted.key.split("+").at(-1)) return;
          window.removeEventListener("keydown", begin, true);
          const look = () => {
            const texts = [...document.querySelectorAll(wanted.selector)].map((each) => each.textContent.replaceAll("\u00a0", " "));
            const left = wanted.gone && [...document.querySelectorAll(wanted.gone)].some((each) => each.offsetParent !== null);
            const shown = texts.some((each) => each.includes(wanted.text)) && !left;
            shown ? resolve([performance.timeOrigin + timeStamp, performance.now() - timeStamp]) : requestAnimationFrame(look);
          };
          look();
        };
        window.addEventListener("keydown", begin, true);
      });
    }, { key, selector, text, gone });
    await page.keyboard.press(key);
    return page.evaluate(() => window.stetClock);
  },
  type: ({ text }) => page.keyboard.type(text),
  /** Waits until something is visible and returns its text. */
  text: async ({ selector, timeout }) => {
    const found = page.locator(selector).first();
    await found.waitFor({ timeout });
    return found.innerText();
  },
  texts: ({ selector }) => page.locator(selector).allInnerTexts(),
  /** The text inside the newest webview: a frame in a frame. */
  framed: ({ selector, inner, content }) =>
    page.frameLocator(selector).last().frameLocator(inner).locator(content).innerText(),
  /** A computed style of the first such element. */
  style: ({ selector, property, pseudo }) =>
    page.locator(selector).first().evaluate((element, [name, part]) => getComputedStyle(element, part)[name], [property, pseudo]),
  click: ({ selector }) => page.locator(selector).first().click(),
  gone: ({ selector }) => page.locator(selector).first().waitFor({ state: "hidden" }),
  /** Takes a picture, without what hangs at the pointer. */
  screenshot: async ({ path }) => {
    await page.mouse.move(1, 1);
    await page.waitForTimeout(500);
    await page.screenshot({ path });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...params } = JSON.parse(line);
  let answer;
  try {
    answer = { ok: true, value: (await calls[name](params)) ?? null };
  } catch (error) {
    answer = { ok: false, value: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
