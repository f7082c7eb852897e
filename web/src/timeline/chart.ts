// The canvas of the timeline with what mouse and keys do to it. React gives it the data and is told of choices.
import { axisHeight, draw, paletteOf, placeAt, timeAt, xOf, type Scene } from "./draw";
import type { Execution, Segment } from "./executions";
import { barIn, layoutRows, rowAt, type Grouping, type Row } from "./rows";
import { Axis, breaksFor, pan, within, zoom, type View } from "./scale";
import { idleStarts, type Start } from "./starts";

export interface ChartData {
  list: readonly Execution[];
  grouping: Grouping;
  tool: string;
  /** When the run began; and its end, or undefined while it goes on. */
  start: number;
  end?: number;
  pauses: readonly { from: number; to?: number }[];
  /** When servers were started that executions waited for. */
  starts: readonly Start[];
  selected?: string;
  selectedKey?: string;
}

/** What is under the mouse. */
export interface Hit { execution: Execution; segment?: Segment; x: number; y: number }

export interface ChartEvents {
  choose(e: Execution): void;
  chooseRow(row: Row): void;
  hover(hit: Hit | undefined): void;
  focus(e: Execution): void;
  zoomed(on: boolean): void;
  /** The height of all rows has changed. */
  height(pixels: number): void;
}

export class Chart {
  private data: ChartData = { list: [], grouping: "node", tool: "", start: 0, pauses: [], starts: [] };
  private axis = new Axis();
  private rows: Row[] = [];
  private rowsHeight = 0;
  private view: View | undefined; // undefined: all of it
  private hovered: string | undefined;
  focused: Execution | undefined;
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private drag: { x: number; y: number; view: View; scroll: number; moved: boolean } | undefined;
  private readonly context: CanvasRenderingContext2D;
  private readonly stop: (() => void)[] = [];
  /** Whether the element has the focus, so that the focused execution is marked. */
  active = false;

  constructor(private readonly box: HTMLElement, private readonly canvas: HTMLCanvasElement, private readonly events: ChartEvents) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    const on = <K extends keyof HTMLElementEventMap>(name: K, f: (e: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions) => {
      box.addEventListener(name, f, options);
      this.stop.push(() => box.removeEventListener(name, f, options));
    };
    on("wheel", (e) => this.wheel(e), { passive: false });
    on("scroll", () => this.paint());
    on("pointerdown", (e) => this.down(e));
    on("pointermove", (e) => this.move(e));
    on("pointerup", (e) => this.up(e));
    on("pointerleave", () => this.hover(undefined));
    on("dblclick", () => this.reset());
    const size = new ResizeObserver(() => this.paint());
    size.observe(box);
    const theme = new MutationObserver(() => this.paint());
    theme.observe(document.documentElement, { attributes: true });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const themed = () => this.paint();
    dark.addEventListener("change", themed);
    this.stop.push(() => size.disconnect(), () => theme.disconnect(), () => dark.removeEventListener("change", themed), () => cancelAnimationFrame(this.frame));
  }

  destroy() {
    for (const f of this.stop) f();
    clearTimeout(this.timer);
  }

  set(data: ChartData) {
    this.data = data;
    const to = data.end ?? Date.now();
    this.axis = new Axis(breaksFor(idleStarts(data.list, data.starts, to), { from: data.start, to }));
    const { rows, height } = layoutRows(data.list, data.grouping, data.tool);
    this.rows = rows;
    if (height !== this.rowsHeight) this.events.height((this.rowsHeight = height));
    this.paint();
  }

  /** Scrolls and pans so that an execution is in sight. */
  reveal(e: Execution) {
    const place = this.find(e);
    if (!place) return;
    const bar = barIn(place.row, place.index), seen = this.box.clientHeight - axisHeight;
    if (bar.top < this.box.scrollTop) this.box.scrollTop = place.row.height > seen ? bar.top - 8 : place.row.top;
    else if (bar.top + bar.height > this.box.scrollTop + seen) this.box.scrollTop = bar.top + bar.height + 8 - seen;
    const start = this.axis.of(e.start);
    if (this.view && (start > this.view.to || this.axis.of(e.end ?? Infinity) < this.view.from)) {
      const length = this.view.to - this.view.from;
      this.view = within({ from: start - length / 4, to: start + length * 0.75 }, this.whole());
    }
    this.paint();
  }

  zoom(factor: number, around?: number) {
    const view = this.shown();
    this.look(zoom(view, this.whole(), factor, around ?? this.center(view)));
  }

  pan(share: number) { this.look(pan(this.shown(), this.whole(), share)); }

  reset() {
    this.view = undefined;
    this.events.zoomed(false);
    this.paint();
  }

  /** Moves the focus: by time in the row, or to the row above or below. Returns the execution. */
  step(to: "left" | "right" | "up" | "down" | "first" | "last"): Execution | undefined {
    const at = this.focused && this.find(this.focused);
    if (!at) return this.focusOn(this.rows[0]?.items[0]);
    const { row, index, rowIndex } = at;
    switch (to) {
      case "left": return this.focusOn(row.items[Math.max(index - 1, 0)]);
      case "right": return this.focusOn(row.items[Math.min(index + 1, row.items.length - 1)]);
      case "first": return this.focusOn(row.items[0]);
      case "last": return this.focusOn(row.items[row.items.length - 1]);
      default: {
        const next = this.rows[rowIndex + (to === "up" ? -1 : 1)];
        if (!next) return this.focused;
        const start = row.items[index]!.start;
        return this.focusOn(next.items.reduce((best, e) => (Math.abs(e.start - start) < Math.abs(best.start - start) ? e : best)));
      }
    }
  }

  focusOn(e: Execution | undefined): Execution | undefined {
    if (!e) return undefined;
    this.focused = e;
    this.events.focus(e);
    this.reveal(e);
    return e;
  }

  paint() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.render();
      // Bars of what is under way grow, ten times a second.
      clearTimeout(this.timer);
      if (this.data.end === undefined && this.data.list.length > 0) this.timer = setTimeout(() => this.paint(), 100);
    });
  }

  private render() {
    const width = this.box.clientWidth, height = this.box.clientHeight;
    if (width === 0 || height === 0) return;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(this.context, this.scene(), paletteOf(this.box));
  }

  private scene(): Scene {
    const { data } = this;
    return {
      width: this.box.clientWidth, height: this.box.clientHeight, names: this.names(), scroll: this.box.scrollTop, rows: this.rows,
      view: this.shown(), axis: this.axis, starts: data.starts, start: data.start, now: data.end ?? Date.now(), pauses: data.pauses, selected: data.selected,
      selectedKey: data.selectedKey, hovered: this.hovered, focused: this.active ? this.focused?.id : undefined, grouping: data.grouping,
    };
  }

  private names(): number { return this.box.clientWidth < 560 ? 110 : this.box.clientWidth < 900 ? 150 : 190; }

  private whole(): View {
    const to = Math.max(this.data.end ?? Date.now(), this.data.start + 0.05);
    return { from: this.data.start, to: this.axis.of(to) };
  }

  private shown(): View {
    if (this.view) return this.view;
    const whole = this.whole(), margin = (whole.to - whole.from) * 0.02;
    return { from: whole.from - margin / 4, to: whole.to + margin };
  }

  private look(view: View) {
    this.view = view;
    this.events.zoomed(true);
    this.paint();
  }

  private center(view: View): number {
    const chosen = this.data.list.find((e) => e.id === (this.active ? this.focused?.id : undefined) || e.id === this.data.selected);
    const start = chosen && this.axis.of(chosen.start);
    if (start !== undefined && start >= view.from && start <= view.to) return start;
    return (view.from + view.to) / 2;
  }

  private find(e: Execution): { row: Row; rowIndex: number; index: number } | undefined {
    const id = this.data.grouping === "node" ? e.key : e.walk;
    const rowIndex = this.rows.findIndex((r) => r.id === id), row = this.rows[rowIndex];
    const index = row ? row.items.findIndex((i) => i.id === e.id) : -1;
    return row && index >= 0 ? { row, rowIndex, index } : undefined;
  }

  private point(e: MouseEvent): { x: number; y: number } {
    const r = this.box.getBoundingClientRect();
    return { x: e.clientX - r.left - this.box.clientLeft, y: e.clientY - r.top - this.box.clientTop };
  }

  private hit(x: number, y: number): Hit | undefined {
    if (x < this.names() || y < axisHeight) return undefined;
    const s = this.scene(), at = y - axisHeight + s.scroll, row = this.rows[rowAt(this.rows, at)];
    if (!row) return undefined;
    let best: Hit | undefined, nearest = 5;
    for (let i = 0; i < row.items.length; i++) {
      const e = row.items[i]!, from = xOf(s, e.start);
      if (from > x + nearest) break;
      const to = Math.max(xOf(s, e.end ?? s.now), from + 2), bar = barIn(row, i);
      const away = Math.max(from - x, x - to, 0) + Math.max(bar.top - at, at - bar.top - bar.height, 0);
      if (away >= nearest) continue;
      nearest = Math.max(away, 0.01);
      const t = timeAt(s, x);
      best = { execution: e, segment: e.segments.find((g) => t >= g.from && t <= (g.to ?? s.now)), x, y };
    }
    return best;
  }

  private hover(hit: Hit | undefined) {
    this.events.hover(hit);
    if (this.hovered === hit?.execution.id) return;
    this.hovered = hit?.execution.id;
    this.paint();
  }

  private wheel(e: WheelEvent) {
    const { x, y } = this.point(e);
    if (x < this.names() && y > axisHeight && !e.ctrlKey) return; // the names scroll
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
    const across = e.shiftKey && e.deltaX === 0 ? e.deltaY : e.deltaX;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((across * unit) / Math.max(this.box.clientWidth - this.names(), 1));
    else this.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * unit * 0.002))), placeAt(this.scene(), x));
  }

  private down(e: PointerEvent) {
    if (e.button !== 0) return;
    const { x, y } = this.point(e);
    if (x > this.box.clientWidth) return; // the scrollbar
    this.drag = { x, y, view: this.shown(), scroll: this.box.scrollTop, moved: false };
  }

  private move(e: PointerEvent) {
    const { x, y } = this.point(e);
    const d = this.drag;
    if (!d || !(e.buttons & 1)) {
      this.drag = undefined;
      this.hover(this.hit(x, y));
      return;
    }
    if (!d.moved) {
      if (Math.abs(x - d.x) + Math.abs(y - d.y) < 4) return;
      d.moved = true;
      this.box.setPointerCapture(e.pointerId);
      this.hover(undefined);
    }
    this.box.scrollTop = d.scroll - (y - d.y);
    const by = ((d.x - x) / Math.max(this.box.clientWidth - this.names(), 1)) * (d.view.to - d.view.from);
    if (d.x >= this.names() && (this.view || Math.abs(x - d.x) > 8)) {
      this.look(within({ from: d.view.from + by, to: d.view.to + by }, this.whole()));
    }
  }

  private up(e: PointerEvent) {
    const d = this.drag;
    this.drag = undefined;
    if (!d || d.moved) return;
    const { x, y } = this.point(e);
    const hit = this.hit(x, y);
    if (hit) {
      this.focused = hit.execution;
      this.events.focus(hit.execution);
      this.events.choose(hit.execution);
    } else if (x < this.names() && y > axisHeight) {
      const row = this.rows[rowAt(this.rows, y - axisHeight + this.box.scrollTop)];
      if (row) this.events.chooseRow(row);
    }
    this.paint();
  }
}
