// Draws the graph as an SVG of its own, with the colours of the page, and as a PNG.
import { download, iconPath, signs, typeIcon } from "../kit";
import { breakpointAt, report, state } from "../store";
import type { Placed } from "./dagre";
import { family, isPlain, path, shorten, sourceId, textWidth, labelFont, type Model } from "./model";
import { momentOf, takenOf, viewOf } from "./moment";

const escape = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The graph as SVG, with the states that the page shows. */
export function drawSvg(model: Model, placed: Placed): string {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const moment = momentOf(state);
  const width = Math.ceil(placed.width + 16), height = Math.ceil(placed.height + 16);
  const out: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="-8 -8 ${width} ${height}" font-family="${escape(family)}">`,
    `<title>${escape(model.graph.tool)}</title>`,
    `<rect x="-8" y="-8" width="${width}" height="${height}" fill="${colour("bg")}"/>`,
  ];
  const icon = (d: string, x: number, y: number, size: number, stroke: string, fill = "none") =>
    `<path transform="translate(${x} ${y}) scale(${size / 16})" d="${d}" fill="${fill}" stroke="${stroke}" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/>`;
  const text = (x: number, y: number, content: string, fill: string, size: number, more = "") =>
    `<text x="${x}" y="${y}" fill="${fill}" font-size="${size}" dominant-baseline="central"${more}>${escape(content)}</text>`;

  for (let depth = 0; ; depth++) {
    const nodes = [...model.nodes.values()].filter((n) => n.depth === depth);
    if (nodes.length === 0) break;
    for (const drawn of nodes) {
      const { node } = drawn;
      const box = placed.nodes[node.key];
      if (!box) continue;
      const view = viewOf(moment, node.key);
      const shade = view.state && view.state !== "skipped" ? colour(`s-${view.state === "cancelled" ? "skipped" : view.state}`) : colour("line-strong");
      const soft = view.state ? colour(`s-${view.state === "cancelled" ? "skipped" : view.state}-soft`) : colour("bg-raised");
      out.push(`<g><title>${escape([node.id, drawn.detail, view.state && signs[view.state].label].filter(Boolean).join(", "))}</title>`);
      out.push(`<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="6" fill="${box.height > drawn.height ? colour("bg-1") : soft}" stroke="${shade}"/>`);
      if (box.height > drawn.height) out.push(`<rect x="${box.x + 0.5}" y="${box.y + 0.5}" width="${box.width - 1}" height="${drawn.height - 1}" rx="5" fill="${soft}"/>`);
      const middle = box.y + drawn.height / 2;
      if (breakpointAt(node.key)) out.push(`<circle cx="${box.x + 8}" cy="${middle}" r="4" fill="${colour("breakpoint")}"/>`);
      out.push(icon(iconPath(typeIcon(node.type)), box.x + 18, middle - 7, 14, colour("text-2")));
      const plain = isPlain(node);
      out.push(text(box.x + 40, plain ? middle : middle - 7.5, shorten(node.id, 28), colour("text"), 12, ' font-weight="600"'));
      if (!plain) out.push(text(box.x + 40, middle + 8, drawn.detail, colour("text-2"), 11));
      const right = box.x + Math.min(box.width, Math.max(drawn.width, box.width)) - (drawn.bodies.length ? 28 : 10);
      if (view.state && view.state !== "skipped") out.push(icon(iconPath(signs[view.state].icon), right - 12, plain ? middle - 6 : middle - 14, 12, shade));
      if (!plain && (view.count ?? 0) > 1) out.push(text(right, middle + 8, `×${view.count}`, colour("text-2"), 11, ' text-anchor="end"'));
      out.push("</g>");
      for (const b of drawn.folded ? [] : drawn.bodies) {
        const at = placed.bodies[b.key];
        if (!at) continue;
        out.push(`<rect x="${at.x}" y="${at.y}" width="${at.width}" height="${at.height}" rx="5" fill="${colour("bg")}" stroke="${colour("line")}" stroke-dasharray="4 3"/>`);
        out.push(text(at.x + 8, at.y + 11, b.name, colour("text-2"), 11));
      }
    }
    for (const source of model.sources.filter((n) => n.depth === depth)) {
      const box = placed.nodes[sourceId(source.key)]!;
      out.push(`<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="10" fill="${colour("s-caught-soft")}"/>`);
      out.push(text(box.x + box.width / 2, box.y + box.height / 2, source.text, colour("s-caught"), 11, ' text-anchor="middle"'));
    }
    for (const { id, edge, label } of model.edges.filter((e) => e.depth === depth)) {
      const at = placed.edges[id];
      if (!at) continue;
      const taken = takenOf(moment, edge.from, edge.via) > 0;
      const stroke = taken ? colour("accent") : edge.kind === "catch" ? colour("s-caught") : colour("line-strong");
      out.push(`<path d="${path(at.points)}" fill="none" stroke="${stroke}" stroke-width="${taken ? 2 : 1.2}"${edge.kind === "catch" ? ' stroke-dasharray="5 3"' : ""}/>`);
      out.push(arrow(at.points, stroke));
      if (label && at.label) {
        const w = textWidth(label, labelFont) + 8;
        out.push(`<g><title>${escape(edge.rule ?? label)}</title><rect x="${at.label.x - w / 2}" y="${at.label.y - 8}" width="${w}" height="16" rx="3" fill="${colour("bg")}"/>`);
        out.push(text(at.label.x, at.label.y, label, colour("text-2"), 11, ' text-anchor="middle"'), "</g>");
      }
    }
  }
  out.push("</svg>");
  return out.join("\n");
}

function arrow(points: { x: number; y: number }[], fill: string): string {
  const tip = points[points.length - 1]!, before = points[points.length - 2] ?? tip;
  const angle = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI;
  return `<path transform="translate(${tip.x} ${tip.y}) rotate(${angle.toFixed(1)})" d="M-7 -3.5 0 0 -7 3.5z" fill="${fill}"/>`;
}

export function exportSvg(model: Model, placed: Placed) {
  download(`${model.graph.tool}.svg`, drawSvg(model, placed), "image/svg+xml");
}

/** The largest side of a PNG, in pixels. */
const largest = 8192;

export async function exportPng(model: Model, placed: Placed) {
  try {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawSvg(model, placed))}`;
    await image.decode();
    const scale = Math.min(2, largest / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.width * scale);
    canvas.height = Math.round(image.height * scale);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("the browser cannot make an image of this size");
    download(`${model.graph.tool}.png`, blob);
  } catch (e) {
    report(e, "Export");
  }
}
