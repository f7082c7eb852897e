import { announce, notify } from "../store/actions";

/** Puts a text into the clipboard, and says so. */
export async function copy(text: string, what = "Text") {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
    notify("info", `${what} copied`);
  } catch {
    notify("error", "The browser does not allow the page to use the clipboard");
  }
}

/** Lets the browser save a text as a file. */
export function download(name: string, content: string | Blob, type = "text/plain") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
