// Figures, times and captured values as text. Whatever came from a capture passes `text` on its way to the screen:
// a string is drawn as a text node, and anything else would be taken for a description of elements.

export const text = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));

const whole = new Intl.NumberFormat("en");
export const figure = (number) => whole.format(number ?? 0);
export const plural = (number, noun, many = noun + "s") => `${figure(number)} ${number === 1 ? noun : many}`;
export const share = (part, of) => (of ? Math.round((100 * part) / of) + " %" : "–");

export function bytes(number) {
  if (number < 1e3) return figure(number) + " B";
  if (number < 1e6) return (number / 1e3).toFixed(number < 1e4 ? 1 : 0) + " KB";
  return number < 1e9 ? (number / 1e6).toFixed(1) + " MB" : (number / 1e9).toFixed(2) + " GB";
}

const dateForm = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const yearForm = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const clockForm = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const preciseForm = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

export const day = (ts) => (new Date(ts).getFullYear() === new Date().getFullYear() ? dateForm : yearForm).format(ts);
export const clock = (ts) => clockForm.format(ts);
export const precise = (ts) => preciseForm.format(ts);
export const moment = (ts) => `${day(ts)}, ${clock(ts)}`;

export function ago(ts, now = Date.now()) {
  const seconds = Math.max(0, (now - ts) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
  if (seconds < 86_400) return Math.floor(seconds / 3600) + " h ago";
  return seconds < 7 * 86_400 ? plural(Math.floor(seconds / 86_400), "day") + " ago" : day(ts);
}

export function lasted(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return seconds + " s";
  if (seconds < 3600) return Math.round(seconds / 60) + " min";
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** The last part of a path. */
export const folder = (root) => text(root).replace(/\/+$/, "").split("/").pop() || "somewhere";

/** The beginning of a long text. */
export const short = (value, most) => {
  const whole = text(value);
  return whole.length > most ? whole.slice(0, most - 1).trimEnd() + "…" : whole;
};
