// The time axis: what part of a run is shown, and where its ticks stand.

/** A part of the axis of a run, in milliseconds since 1970 where nothing is cut out. */
export interface View { from: number; to: number }

const shortest = 0.01; // ms

/** A time that is drawn shorter than it was: `width` is what it takes on the axis, in milliseconds. */
export interface Break { from: number; to: number; width: number }

/** The axis: where a time stands on it, and which time stands at a place. Breaks are in order and apart. */
export class Axis {
  constructor(readonly breaks: readonly Break[] = []) {}

  of(t: number): number {
    let cut = 0;
    for (const b of this.breaks) {
      if (t <= b.from) break;
      cut += (Math.min(t, b.to) - b.from) * (1 - b.width / (b.to - b.from));
    }
    return t - cut;
  }

  time(place: number): number {
    let cut = 0;
    for (const b of this.breaks) {
      const from = b.from - cut;
      if (place <= from) break;
      if (place < from + b.width) return b.from + ((place - from) * (b.to - b.from)) / b.width;
      cut += b.to - b.from - b.width;
    }
    return place + cut;
  }
}

/** Returns breaks for those times that are long beside the rest of a run, which is to be seen. */
export function breaksFor(times: readonly { from: number; to: number }[], whole: View): Break[] {
  const length = (list: readonly { from: number; to: number }[]) => list.reduce((sum, t) => sum + t.to - t.from, 0);
  const rest = Math.max(whole.to - whole.from - length(times), shortest);
  return times.filter((t) => t.to - t.from > rest / 4).map((t) => ({ from: t.from, to: t.to, width: rest / 8 }));
}

/** Zooms by a factor around a time; below 1 is closer. What is shown stays within twice the whole. */
export function zoom(view: View, whole: View, factor: number, around: number): View {
  const longest = Math.max(whole.to - whole.from, shortest) * 2;
  const length = Math.min(Math.max((view.to - view.from) * factor, shortest), longest);
  const share = (around - view.from) / (view.to - view.from || 1);
  return within({ from: around - length * share, to: around + length * (1 - share) }, whole);
}

/** Moves the view by a part of its length. */
export function pan(view: View, whole: View, share: number): View {
  const by = (view.to - view.from) * share;
  return within({ from: view.from + by, to: view.to + by }, whole);
}

/** Moves a view so that it shows a part of the whole. */
export function within(view: View, whole: View): View {
  const length = view.to - view.from, slack = length * 0.9;
  if (view.to < whole.from + length - slack) return { from: whole.from - slack, to: whole.from + length - slack };
  if (view.from > whole.to - length + slack) return { from: whole.to - length + slack, to: whole.to + slack };
  return view;
}

/** Returns the ticks of a view, in milliseconds after `start`, about `width / 90` of them and none in a break. */
export function ticks(view: View, start: number, width: number, axis = new Axis()): { step: number; at: number[] } {
  const raw = (view.to - view.from) / Math.max(width / 90, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = power * ([1, 2, 5, 10].find((n) => power * n >= raw) ?? 10);
  for (const whole of [60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000]) {
    if (raw > 30_000 && whole >= raw) {
      step = whole;
      break;
    }
  }
  const at: number[] = [];
  const end = axis.time(view.to) - start;
  for (let t = Math.ceil((axis.time(view.from) - start) / step) * step; t <= end && at.length < 200; t += step) {
    const b = axis.breaks.find((b) => start + t > b.from && start + t < b.to);
    if (b) t = Math.ceil((b.to - start) / step) * step;
    if (t <= end) at.push(t);
  }
  return { step, at };
}

/** Writes a time of the axis, exact to the step between two ticks: "340 µs", "12.5 ms", "2 min 5 s". */
export function tickText(ms: number, step: number): string {
  const size = Math.abs(ms);
  const digits = (value: number, unit: number) => trim(value, Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  if (size < 1e-9) return "0";
  if (size < 1) return `${digits(ms * 1000, 1e-3)} µs`;
  if (size < 1000) return `${digits(ms, 1)} ms`;
  if (size < 60_000) return `${digits(ms / 1000, 1000)} s`;
  const minutes = Math.floor(size / 60_000), rest = (size - minutes * 60_000) / 1000;
  if (minutes < 60) return `${minutes} min${rest >= 0.5 ? ` ${Math.floor(rest)} s` : ""}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

function trim(n: number, digits: number): string {
  const s = n.toFixed(Math.min(digits, 6));
  return s.includes(".") ? s.replace(/\.?0+$/, "") : s;
}
