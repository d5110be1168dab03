// SPDX-License-Identifier: Apache-2.0
import type { Console } from "../../store";
import type { TimelineData } from "./data";
import { AXIS, draw, ROW, type Picture } from "./draw";
import { hitAt, rowAt, timeAt, type Hit } from "./hit";
import { paletteOf, type Palette } from "./palette";
import { TimeWindow } from "./window";

/** [px] that a pointer moves before it drags. */
const DRAGS = 4;

type Drag = { kind: "scrub" } | { kind: "pan"; x: number; y: number; moved: boolean };

/** The canvas: what is in view of the timeline, and what pointers do with it. */
export class Surface {
  readonly window = new TimeWindow();
  scroll = 0;
  focusedRow = -1;
  private drag: Drag | null = null;
  private waits = false;
  private palette: Palette | null = null;
  private width = 0;
  private height = 0;
  private readonly stops: (() => void)[] = [];

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly console: Console,
    private readonly data: TimelineData,
    /** Is told what the pointer is on, and where [px]. */
    private readonly hovered: (hit: Hit | null, x: number, y: number) => void,
    /** The window has been moved, or holds more. */
    private readonly moved: () => void,
  ) {
    const { connection, at, selection } = console;
    for (const value of [connection.now, selection]) this.stops.push(value.subscribe(() => this.redraw()));
    this.stops.push(at.subscribe(() => this.hold(at.get())));
    if (at.get() !== null) this.hold(at.get());
    this.listen();
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  /** Draws with the next frame of the screen. */
  redraw(): void {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      if (this.window.fits && this.window.fit(...this.data.extent)) this.moved();
      this.drawNow();
    });
  }

  /** The whole of what is known. */
  fit(): void {
    this.window.fit(...this.data.extent);
    this.changed();
  }

  /** Keeps what happens now in view; of a recording, shows its end. */
  follow(): void {
    if (this.console.connection.welcome.get()?.view === "record") this.window.reveal(this.data.extent[1]);
    else this.window.follows = true;
    this.changed();
  }

  /** Keeps all of a recording in view, also while it is still being read. */
  holdAll(): void {
    this.window.fits = true;
    this.changed();
  }

  zoomAtMoment(factor: number): void {
    const { at, connection } = this.console;
    this.window.zoom(at.get() ?? connection.now.get(), factor);
    this.changed();
  }

  /** Goes to a moment and keeps it in view. */
  goTo(t: number): void {
    const now = this.console.connection.now.get();
    this.window.follows = false;
    this.console.at.set(Math.min(Math.max(t, this.data.extent[0]), now));
    this.window.reveal(this.console.at.get()!);
    this.changed();
  }

  /** Keeps the moment that is shown in view, whoever chose it; null: what happens now. */
  private hold(t: number | null): void {
    if (t !== null && !this.window.fits) this.window.reveal(t);
    else if (t === null && this.console.connection.welcome.get()?.view !== "record") this.window.follows = true;
    this.changed();
  }

  /** The keyboard's row; brings it into view. */
  focusRow(step: number): void {
    const last = this.data.rows.length - 1;
    this.focusedRow = Math.min(Math.max(this.focusedRow + step, 0), last);
    const top = this.focusedRow * ROW;
    this.scrollTo(Math.min(Math.max(this.scroll, top + ROW - this.height + AXIS), top));
    this.redraw();
  }

  picture(): Picture {
    const { at, connection, selection } = this.console;
    const now = connection.now.get();
    this.window.now(now);
    this.palette ??= paletteOf(this.canvas);
    return {
      width: this.width, height: this.height, names: this.width < 640 ? 108 : 176, scroll: this.scroll,
      window: this.window, rows: this.data.rows, palette: this.palette, at: at.get(), now,
      selectedNode: selection.get().node ?? null, focusedRow: this.focusedRow,
    };
  }

  private drawNow(): void {
    const context = this.canvas.getContext("2d");
    if (context === null || this.width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context, this.picture());
  }

  private changed(): void {
    this.moved();
    this.redraw();
  }

  private scrollTo(scroll: number): void {
    const most = Math.max(0, this.data.rows.length * ROW - (this.height - AXIS));
    this.scroll = Math.min(Math.max(scroll, 0), most);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = globalThis.devicePixelRatio || 1;
    this.width = clientWidth;
    this.height = clientHeight;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.scrollTo(this.scroll);
    this.drawNow();
  }

  private listen(): void {
    const { canvas } = this;
    const on = <K extends keyof HTMLElementEventMap>(type: K, run: (event: HTMLElementEventMap[K]) => void) => {
      canvas.addEventListener(type, run, { passive: false });
      this.stops.push(() => canvas.removeEventListener(type, run));
    };
    on("wheel", (event) => this.wheel(event));
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", () => void (this.drag = null));
    on("pointerleave", () => this.hovered(null, 0, 0));
    on("dblclick", () => this.fit());
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(canvas);
    const themes = new MutationObserver(() => {
      this.palette = null;
      this.redraw();
    });
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.stops.push(() => sizes.disconnect(), () => themes.disconnect());
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const picture = this.picture();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.offsetX < picture.names || event.altKey) {
      this.scrollTo(this.scroll + event.deltaY * lines);
      return this.redraw();
    }
    const aside = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(aside) > Math.abs(event.shiftKey ? 0 : event.deltaY))
      this.window.pan((aside * lines * this.window.length) / (picture.width - picture.names));
    else this.window.zoom(timeAt(picture, event.offsetX), Math.exp(event.deltaY * lines * 0.0016));
    this.changed();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture?.(event.pointerId);
    const picture = this.picture();
    const inAxis = event.offsetY < AXIS && event.offsetX >= picture.names;
    this.drag = inAxis ? { kind: "scrub" } : { kind: "pan", x: event.offsetX, y: event.offsetY, moved: false };
    if (inAxis) this.goTo(timeAt(picture, event.offsetX));
    this.hovered(null, 0, 0);
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    const picture = this.picture();
    if (drag === null) {
      this.canvas.style.cursor = event.offsetY < AXIS && event.offsetX >= picture.names ? "ew-resize" : "default";
      return this.hovered(hitAt(picture, event.offsetX, event.offsetY), event.offsetX, event.offsetY);
    }
    if (drag.kind === "scrub") return this.goTo(timeAt(picture, Math.max(event.offsetX, picture.names)));
    const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < DRAGS) return;
    this.canvas.style.cursor = "grabbing";
    if (dx !== 0 && drag.x >= picture.names) this.window.pan((-dx * this.window.length) / (picture.width - picture.names));
    this.scrollTo(this.scroll - dy);
    this.drag = { kind: "pan", x: event.offsetX, y: event.offsetY, moved: true };
    this.changed();
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    this.canvas.style.cursor = "default";
    if (drag?.kind !== "pan" || drag.moved) return;
    const picture = this.picture();
    const hit = hitAt(picture, event.offsetX, event.offsetY);
    this.focusedRow = rowAt(picture, event.offsetY);
    if (hit !== null && hit.uid !== null)
      this.console.selection.set({ ...this.console.selection.get(), node: hit.uid });
    if (event.offsetX >= picture.names && event.offsetY >= AXIS)
      this.goTo(hit !== null && Number.isFinite(hit.t) ? hit.t : timeAt(picture, event.offsetX));
    this.redraw();
  }
}
