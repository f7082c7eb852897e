// Times, sizes and counts as the page writes them.

/** A duration in milliseconds, such as "340 ms", "2.4 s", "3 min 20 s". */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  if (ms < 1) return `${ms < 0.05 ? "0" : ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

const two = (n: number) => String(n).padStart(2, "0");

/** The time of day of a timestamp: "14:03:22", with `millis` "14:03:22.148". */
export function clock(iso: string, millis = false): string {
  const d = new Date(iso);
  if (Number.isNaN(d.getTime())) return "";
  const text = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  return millis ? `${text}.${String(d.getMilliseconds()).padStart(3, "0")}` : text;
}

/** The time of a timestamp, with the date unless it is today. */
export function when(iso: string): string {
  const d = new Date(iso);
  if (d.toDateString() === new Date().toDateString()) return clock(iso);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(iso)}`;
}

/** How long ago a timestamp is: "12 s ago". */
export function ago(iso: string, now = Date.now()): string {
  return `${duration(Math.max(0, Math.round((now - Date.parse(iso)) / 1000) * 1000)).replace(/\.0+ s/, " s")} ago`;
}

/** A size in bytes: "512 bytes", "8.2 kB". */
export function bytes(n: number): string {
  if (n < 1000) return `${n} bytes`;
  if (n < 1e6) return `${(n / 1e3).toFixed(1)} kB`;
  return `${(n / 1e6).toFixed(1)} MB`;
}

/** A number with its noun: "1 node", "3 nodes". */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
}

/** The first characters of a text, at most n UTF-16 units: no character is cut in two. */
export function headOf(text: string, n: number): string {
  const code = text.charCodeAt(n - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? n - 1 : n);
}

/** A value as short JSON. */
export function preview(value: unknown, length = 80): string {
  const text = value === undefined ? "" : JSON.stringify(value);
  return text.length > length ? `${headOf(text, length - 1)}…` : text;
}
