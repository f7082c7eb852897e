import { state, subscribe } from "../store";

const dark = matchMedia("(prefers-color-scheme: dark)");

function apply() {
  const { theme } = state.settings;
  document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
}

/** Keeps the theme of the page that of the settings, or of the system. */
export function followTheme() {
  apply();
  dark.addEventListener("change", apply);
  subscribe(apply);
}
