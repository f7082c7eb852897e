// Draws the timeline on a canvas: only rows and bars that are in sight.
import { headOf } from "../kit/format";
import type { Execution, Segment } from "./executions";
import { barIn, rowAt, type Row } from "./rows";
import { ticks, tickText, type Axis, type View } from "./scale";
import { startOf, type Start } from "./starts";
import { duration } from "../kit/format";

export const axisHeight = 22;

export interface Scene {
  width: number;
  height: number;
  /** Width of the names at the left. */
  names: number;
  /** How far the rows are scrolled. */
  scroll: number;
  rows: readonly Row[];
  view: View;
  /** The places of times, on which view is. */
  axis: Axis;
  /** When servers were started that executions waited for. */
  starts: readonly Start[];
  /** When the run began, and what open ends are drawn to. */
  start: number;
  now: number;
  pauses: readonly { from: number; to?: number }[];
  selected?: string;
  selectedKey?: string;
  /** The walk whose executions are chosen. */
  hovered?: string;
  focused?: string;
  grouping: "node" | "body";
}

export interface Palette {
  text: string; muted: string; surface: string; raised: string; border: string; accent: string; selection: string;
  states: Record<string, string>; delay: string; ask: string; sleep: string; paused: string; font: string;
}

/** Reads the colours of the page. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(name).trim() || "gray";
  return {
    text: get("--text"), muted: get("--text-3"), surface: get("--bg-1"), raised: get("--bg-2"), border: get("--line"),
    accent: get("--accent"), selection: get("--accent-soft"),
    states: {
      running: get("--s-running"), done: get("--s-done"), failed: get("--s-failed"), caught: get("--s-caught"),
      cancelled: get("--s-skipped"), pinned: get("--s-pinned"), waiting: get("--s-waiting"),
    },
    delay: get("--s-caught"), ask: get("--s-waiting"), sleep: get("--text-3"), paused: get("--s-paused"),
    font: style.fontFamily,
  };
}

/** Returns the place of a time on the canvas. */
export function xOf(s: Scene, t: number): number {
  return s.names + ((s.axis.of(t) - s.view.from) / (s.view.to - s.view.from || 1)) * (s.width - s.names);
}

export function timeAt(s: Scene, x: number): number {
  return s.axis.time(placeAt(s, x));
}

/** Returns the place on the axis of one on the canvas. */
export function placeAt(s: Scene, x: number): number {
  return s.view.from + ((x - s.names) / Math.max(s.width - s.names, 1)) * (s.view.to - s.view.from);
}

export function draw(c: CanvasRenderingContext2D, s: Scene, p: Palette) {
  c.clearRect(0, 0, s.width, s.height);
  c.fillStyle = p.surface;
  c.fillRect(0, 0, s.width, s.height);
  c.textBaseline = "middle";
  const { step, at } = ticks(s.view, s.start, s.width - s.names, s.axis);

  drawRows(c, s, p);
  c.save();
  c.beginPath();
  c.rect(s.names, axisHeight, s.width - s.names, s.height - axisHeight);
  c.clip();
  c.fillStyle = p.border;
  for (const t of at) c.fillRect(Math.round(xOf(s, s.start + t)), axisHeight, 1, s.height);
  drawBars(c, s, p);
  drawPauses(c, s, p);
  drawBreaks(c, s, p);
  c.restore();

  c.fillStyle = p.raised;
  c.fillRect(0, 0, s.width, axisHeight);
  c.fillStyle = p.border;
  c.fillRect(0, axisHeight - 1, s.width, 1);
  c.fillRect(s.names - 1, 0, 1, s.height);
  c.font = `11px ${p.font}`;
  c.fillStyle = p.muted;
  c.save();
  c.beginPath();
  c.rect(s.names, 0, s.width - s.names, axisHeight);
  c.clip();
  for (const t of at) c.fillText(tickText(t, step), xOf(s, s.start + t) + 4, axisHeight / 2);
  c.restore();
}

function drawRows(c: CanvasRenderingContext2D, s: Scene, p: Palette) {
  c.font = `12px ${p.font}`;
  for (let i = Math.max(rowAt(s.rows, s.scroll), 0); i < s.rows.length; i++) {
    const row = s.rows[i]!, y = axisHeight + row.top - s.scroll;
    if (y > s.height) break;
    if (s.grouping === "node" && row.id === s.selectedKey) {
      c.fillStyle = p.selection;
      c.fillRect(0, y, s.width, row.height);
    }
    c.fillStyle = p.border;
    c.globalAlpha = 0.6;
    c.fillRect(0, y + row.height - 1, s.width, 1);
    c.globalAlpha = 1;
    c.fillStyle = p.text;
    const count = s.grouping === "node" && row.items.length > 1 ? `×${row.items.length.toLocaleString("en")}` : "";
    const countWidth = count ? c.measureText(count).width + 8 : 0;
    const left = 8 + Math.min(row.depth, 8) * 10;
    const middle = y + Math.min(row.height / 2, 60);
    c.fillText(shorten(c, row.label, s.names - left - 6 - countWidth), left, middle);
    if (count) {
      c.fillStyle = p.muted;
      c.fillText(count, s.names - countWidth, middle);
    }
  }
}

function drawPauses(c: CanvasRenderingContext2D, s: Scene, p: Palette) {
  for (const pause of s.pauses) {
    const from = Math.max(xOf(s, pause.from), s.names), to = Math.min(xOf(s, pause.to ?? s.now), s.width);
    if (to <= from) continue;
    // Bars go on beneath a pause, but nothing was done in it.
    c.globalAlpha = 0.7;
    c.fillStyle = p.surface;
    c.fillRect(from, axisHeight, to - from, s.height);
    c.globalAlpha = 0.12;
    c.fillStyle = p.paused;
    c.fillRect(from, axisHeight, to - from, s.height);
    c.globalAlpha = 1;
    if (to - from > 50) {
      c.font = `11px ${p.font}`;
      c.fillStyle = p.muted;
      c.fillText("paused", from + 4, s.height - 10);
    }
  }
}

/** Marks the times that are drawn shorter: nothing happened there but the start of a server. */
function drawBreaks(c: CanvasRenderingContext2D, s: Scene, p: Palette) {
  c.font = `11px ${p.font}`;
  for (const b of s.axis.breaks) {
    const from = Math.max(xOf(s, b.from), s.names), to = Math.min(xOf(s, b.to), s.width);
    if (to <= from) continue;
    c.strokeStyle = p.muted;
    c.lineWidth = 1;
    for (const x of [from, to]) { // a line that is broken, as in drawings
      c.beginPath();
      for (let y = axisHeight; y < s.height; y += 6) c.lineTo(x + (y % 12 === axisHeight % 12 ? -2 : 2), y);
      c.stroke();
    }
    const name = s.starts.find((o) => o.from < b.to && o.to > b.from)?.server ?? "";
    c.fillStyle = p.text;
    c.fillText(shorten(c, `${name} starts: ${duration(b.to - b.from)}`, to - from - 8), from + 4, s.height - 10);
  }
}

function drawBars(c: CanvasRenderingContext2D, s: Scene, p: Palette) {
  c.font = `11px ${p.font}`;
  for (let r = Math.max(rowAt(s.rows, s.scroll), 0); r < s.rows.length; r++) {
    const row = s.rows[r]!;
    if (axisHeight + row.top - s.scroll > s.height) break;
    // Bars narrower than a pixel that fall on the one before are not drawn again.
    const drawn: number[] = [];
    let seen = 0, before = 0;
    for (let i = 0; i < row.items.length; i++) {
      const e = row.items[i]!;
      const x = xOf(s, e.start);
      if (x > s.width) break;
      const to = Math.max(xOf(s, e.end ?? s.now), x + 2);
      if (to < s.names) {
        before++;
        continue;
      }
      seen++;
      const marked = e.id === s.selected || e.id === s.focused || e.id === s.hovered;
      const lane = row.lanes[i]!, edge = Math.round(to * 2);
      if (!marked && to - x <= 2 && drawn[lane] === edge && e.state === "done") continue;
      drawn[lane] = edge;
      const bar = barIn(row, i);
      drawBar(c, s, p, e, x, to, axisHeight + bar.top - s.scroll, bar.height, marked);
    }
    if (seen === 0) { // an arrow shows where its bars are
      c.fillStyle = p.muted;
      c.fillText(before > 0 ? "◂" : "▸", before > 0 ? s.names + 4 : s.width - 12, axisHeight + row.top - s.scroll + row.height / 2);
    }
  }
}

function drawBar(c: CanvasRenderingContext2D, s: Scene, p: Palette, e: Execution, x: number, to: number, y: number, h: number, marked: boolean) {
  const color = p.states[e.state] ?? p.muted;
  for (const g of e.segments) {
    const from = Math.max(xOf(s, g.from), s.names - 2);
    const end = Math.min(Math.max(xOf(s, g.to ?? e.end ?? s.now), from + (e.segments.length === 1 ? 2 : 0.5)), s.width + 2);
    if (end < s.names || from > s.width) continue;
    drawSegment(c, p, g, from, y, end - from, h, color);
  }
  for (const start of s.starts.length === 0 ? [] : startOf(e, s.starts, s.now)) {
    const from = Math.max(xOf(s, start.from), s.names - 2), end = Math.min(xOf(s, start.to), s.width + 2);
    c.fillStyle = p.surface;
    c.globalAlpha = 0.75;
    c.fillRect(from, y, Math.max(end - from, 0), h);
    c.globalAlpha = 1;
    c.strokeStyle = color;
    c.lineWidth = 1;
    if (end > from + 1) c.strokeRect(from + 0.5, y + 0.5, end - from - 1, h - 1);
  }
  const width = Math.min(to, s.width) - Math.max(x, s.names), left = Math.max(x, s.names) + 4;
  if (h >= 12 && width > 26) {
    const sign = signs[e.state];
    // The text stands on the segment where it begins.
    const t = timeAt(s, left + 4), on = e.segments.find((g) => t < (g.to ?? s.now)) ?? e.segments[e.segments.length - 1]!;
    const starting = startOf(e, s.starts, s.now).some((o) => t >= o.from && t <= o.to);
    if (on.kind === "delay") return mark(c, s, p, e, x, to, y, h, marked);
    c.fillStyle = !starting && (on.kind === "work" || on.kind === "failed") ? p.surface : p.text;
    const text = s.grouping === "body" ? e.node : e.item !== undefined ? `[${e.item}]` : e.visit > 1 ? `#${e.visit}` : "";
    c.fillText(shorten(c, [sign, text].filter(Boolean).join(" "), width - 8), left, y + h / 2 + 0.5);
  }
  mark(c, s, p, e, x, to, y, h, marked);
}

/** Frames the bar of an execution that is chosen, focused or under the mouse. */
function mark(c: CanvasRenderingContext2D, s: Scene, p: Palette, e: Execution, x: number, to: number, y: number, h: number, marked: boolean) {
  if (!marked) return;
  c.lineWidth = e.id === s.hovered && e.id !== s.selected && e.id !== s.focused ? 1 : 2;
  c.strokeStyle = e.id === s.selected ? p.accent : p.text;
  c.setLineDash(e.id === s.focused && e.id !== s.selected ? [3, 2] : []);
  c.strokeRect(Math.max(x, s.names - 4) - 1.5, y - 1, Math.min(to, s.width + 4) - Math.max(x, s.names - 4) + 3, h + 2);
  c.setLineDash([]);
}

/** Signs beside the colours, for those who cannot tell colours apart. */
export const signs: Record<string, string> = { failed: "✕", caught: "↯", cancelled: "⊘", pinned: "◆", waiting: "?", running: "▸" };

function drawSegment(c: CanvasRenderingContext2D, p: Palette, g: Segment, x: number, y: number, w: number, h: number, color: string) {
  switch (g.kind) {
    case "failed":
      c.fillStyle = color === p.states["caught"] ? color : p.states["failed"]!;
      c.fillRect(x, y, w, h);
      return;
    case "work":
      c.fillStyle = color;
      c.fillRect(x, y, w, h);
      return;
    case "delay":
      // A thin dashed line between two attempts.
      c.fillStyle = p.delay;
      for (let at = x; at < x + w; at += 6) c.fillRect(at, y + h / 2 - 1, Math.min(3, x + w - at), 2);
      return;
    case "inner":
      c.globalAlpha = 0.22;
      c.fillStyle = color;
      c.fillRect(x, y, w, h);
      c.globalAlpha = 1;
      c.fillRect(x, y, w, Math.min(2, h));
      return;
    default: {
      const hue = g.kind === "ask" ? p.ask : p.sleep;
      c.globalAlpha = 0.25;
      c.fillStyle = hue;
      c.fillRect(x, y, w, h);
      c.globalAlpha = 1;
      c.fillStyle = hue;
      const gap = g.kind === "ask" ? 4 : 8;
      for (let at = x; at < x + w; at += gap) c.fillRect(at, y, 1, h);
    }
  }
}

function shorten(c: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 10) return "";
  if (c.measureText(text).width <= width) return text;
  let from = 0, to = text.length;
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if (c.measureText(headOf(text, middle) + "…").width <= width) from = middle;
    else to = middle - 1;
  }
  return from > 0 ? headOf(text, from) + "…" : "";
}
