type Bundle = typeof import("./editor");
let bundle: Promise<Bundle> | undefined;

/** Loads the editor, which is a file of its own. */
export function loadEditor(): Promise<Bundle> {
  const address = new URL("editor.js", import.meta.url).href;
  bundle ??= (import(address) as Promise<Bundle>).catch((e: unknown) => {
    bundle = undefined;
    throw e;
  });
  return bundle;
}
