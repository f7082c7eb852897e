import "./value.css";
// What comes from files and servers is text. Here are the two exceptions: links to
// the web, and pictures of content blocks.

import { isFields, type Value } from "./json";

/** webAddress returns the address if it is one of the web (http or https), without a login in it. */
export function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || text.length > 4000 || /\s/.test(text)) return undefined;
  try {
    const url = new URL(text);
    if ((url.protocol !== "http:" && url.protocol !== "https:") || url.username || url.password) return undefined;
    return url.href;
  } catch {
    return undefined;
  }
}

/** WebLink shows an address as text, and as a link if it is one of the web. */
export function WebLink({ address, label }: { address: string; label?: string }) {
  const href = webAddress(address);
  if (!href) return <span className="v-address">{address}</span>;
  return (
    <a className="v-address" href={href} target="_blank" rel="noreferrer noopener">
      {label ?? address}
    </a>
  );
}

const pictureTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const maxPictures = 12;
const maxPicture = 8_000_000; // characters of base64

/** pictures returns the addresses of the pictures in content blocks. SVG is not among them: it can hold scripts. */
export function pictures(v: Value | undefined): string[] {
  const list: string[] = [];
  let left = 2000;
  const visit = (v: Value, depth: number) => {
    if (left-- <= 0 || depth > 5 || list.length >= maxPictures) return;
    if (Array.isArray(v)) return v.forEach((e) => visit(e, depth + 1));
    if (!isFields(v)) return;
    if (v.type === "image" && typeof v.mimeType === "string" && typeof v.data === "string") {
      if (pictureTypes.has(v.mimeType) && v.data.length <= maxPicture && base64.test(v.data)) list.push(`data:${v.mimeType};base64,${v.data}`);
      return;
    }
    Object.values(v).forEach((e) => visit(e, depth + 1));
  };
  if (v !== undefined) visit(v, 0);
  return list;
}

/** Pictures shows the pictures of the content blocks in a value. */
export function Pictures({ value }: { value: Value | undefined }) {
  const list = pictures(value);
  if (list.length === 0) return null;
  return (
    <div className="v-pictures">
      {list.map((src, i) => (
        <img key={i} src={src} alt={`Picture ${i + 1} of ${list.length} in this value`} />
      ))}
    </div>
  );
}
