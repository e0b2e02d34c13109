/**
 * One xterm in the page, wired to one PTY: bytes in, keys out, size, links, search, copy and paste.
 *
 * It is no component and knows no React; `terminal-pane.tsx` mounts it. It holds back what a program must not do from
 * inside a terminal: write the clipboard (OSC 52), or have the window report its title back as if it had been typed.
 */
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";

import { Acknowledger } from "./ack";
import { belongsToWindow, terminalAct, type TerminalAct } from "./keys";
import { followable } from "./links";
import { readTheme } from "./theme";

/** What the view tells its owner. */
export interface TerminalEvents {
  /** The user typed, or the program asked for an answer. */
  input(data: string): void;
  resize(size: { cols: number; rows: number }): void;
  acknowledge(bytes: number): void;
  act(act: TerminalAct): void;
  openLink(url: string): void;
  matches(at: number, all: number): void;
}

/** Lines kept above the screen. At 120 columns that is some 7 MB. */
const SCROLLBACK_LINES = 5_000;

/** Pause between two updates of the last line that tests and screen readers see. */
const LAST_LINE_MS = 500;

/** Pause after which a new size is sent while the drawer is dragged. */
const RESIZE_MS = 60;

export class TerminalView {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  readonly #events: TerminalEvents;
  readonly #acks: Acknowledger;
  readonly #host: HTMLElement;
  readonly #observers: (() => void)[] = [];
  #resizing: ReturnType<typeof setTimeout> | undefined;
  #line: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(host: HTMLElement, platform: string, events: TerminalEvents) {
    this.#host = host;
    this.#events = events;
    this.#acks = new Acknowledger((bytes) => events.acknowledge(bytes));
    this.#terminal = new Terminal({
      allowProposedApi: true,
      scrollback: SCROLLBACK_LINES,
      cursorBlink: false,
      fontFamily: token("--font-mono"),
      fontSize: codePixels(),
      lineHeight: 1.2,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
      rightClickSelectsWord: true,
      theme: readTheme(),
      linkHandler: { activate: (event, url) => this.#follow(event, url), allowNonHttpProtocols: false },
    });
    this.#load(platform);
    this.#keepOut();
    this.#terminal.onData((data) => events.input(data));
    this.#terminal.onBinary((data) => events.input(data));
    this.#terminal.onResize((size) => this.#sendSize(size));
    this.#search.onDidChangeResults(({ resultIndex, resultCount }) => events.matches(resultIndex, resultCount));
    this.#watch();
  }

  /** The size that it has now. */
  get size(): { cols: number; rows: number } {
    return { cols: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** Whether the program takes pastes as one piece. */
  get bracketed(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  get selection(): string {
    return this.#terminal.getSelection();
  }

  /** Draws bytes and acknowledges them when they are drawn. */
  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#acks.received(bytes.length);
    this.#terminal.write(bytes, () => {
      this.#acks.drawn(bytes.length);
      this.#tellLastLine();
    });
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Fits the cells to the room. */
  fit(): void {
    if (this.#host.clientWidth > 0 && this.#host.clientHeight > 0) this.#fit.fit();
  }

  find(query: string, direction: "next" | "previous", typing: boolean): void {
    const decorations = { matchOverviewRuler: token("--attention"), activeMatchColorOverviewRuler: token("--accent"), matchBackground: token("--attention-line"), activeMatchBackground: token("--accent-mid") };
    const options = { decorations, incremental: typing };
    if (query === "") this.#search.clearDecorations();
    else if (direction === "next") this.#search.findNext(query, options);
    else this.#search.findPrevious(query, options);
  }

  stopFinding(): void {
    this.#search.clearDecorations();
    this.#terminal.clearSelection();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#resizing);
    clearTimeout(this.#line);
    for (const stop of this.#observers) stop();
    this.#terminal.dispose();
  }

  #load(platform: string): void {
    const terminal = this.#terminal;
    terminal.loadAddon(this.#fit);
    terminal.loadAddon(this.#search);
    terminal.loadAddon(new Unicode11Addon());
    terminal.unicode.activeVersion = "11";
    terminal.loadAddon(new WebLinksAddon((event, url) => this.#follow(event, url)));
    terminal.attachCustomKeyEventHandler((event) => {
      if (belongsToWindow(event)) return false;
      const act = terminalAct(event, platform);
      if (act === null) return true;
      event.preventDefault();
      event.stopPropagation();
      this.#events.act(act);
      return false;
    });
    terminal.open(this.#host);
    this.#draw(platform);
    this.fit();
  }

  /** Draws with the graphics card where that works. On WebKitGTK the buffer must be preserved, else echo is late. */
  #draw(platform: string): void {
    try {
      const webgl = new WebglAddon(platform === "linux");
      webgl.onContextLoss(() => webgl.dispose());
      this.#terminal.loadAddon(webgl);
      this.#host.dataset.renderer = "webgl";
    } catch {
      this.#host.dataset.renderer = "dom";
    }
  }

  /** Drops what would let a program act outside its terminal. */
  #keepOut(): void {
    this.#terminal.parser.registerOscHandler(52, () => true);
    // Window operations: only the size in cells may be asked for; a title that comes back would be input.
    this.#terminal.parser.registerCsiHandler({ final: "t" }, (params) => params[0] !== 18);
  }

  #follow(event: MouseEvent, url: string): void {
    const address = event.ctrlKey || event.metaKey ? followable(url) : null;
    if (address !== null) this.#events.openLink(address);
  }

  #watch(): void {
    const sizes = new ResizeObserver(() => this.fit());
    sizes.observe(this.#host);
    const themes = new MutationObserver(() => {
      this.#terminal.options.theme = readTheme();
      this.#terminal.options.fontSize = codePixels();
      this.fit();
    });
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "style"] });
    // Fonts that come later change the width of a cell.
    void document.fonts?.ready.then(() => {
      if (!this.#closed) this.fit();
    });
    this.#observers.push(
      () => sizes.disconnect(),
      () => themes.disconnect(),
    );
  }

  #sendSize(size: { cols: number; rows: number }): void {
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => this.#events.resize(size), RESIZE_MS);
  }

  /** Puts the last line that is not empty, and the screen's text, where a test can read them without pixels. */
  #tellLastLine(): void {
    this.#line ??= setTimeout(() => {
      this.#line = undefined;
      if (this.#closed) return;
      const { active } = this.#terminal.buffer;
      const lines: string[] = [];
      for (let row = 0; row < this.#terminal.rows; row++) lines.push(active.getLine(active.baseY + row)?.translateToString(true) ?? "");
      const text = lines.join("\n").trimEnd();
      this.#host.dataset.lastLine = text.slice(text.lastIndexOf("\n") + 1);
      this.#host.dataset.screen = text;
    }, LAST_LINE_MS);
  }
}

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The size of code in pixels at the user's text size. */
function codePixels(): number {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Math.round((Number.isFinite(rem) ? rem : 16) * 0.8125);
}
