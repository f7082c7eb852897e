// Icons: drawn by us on a grid of 16, in the colour of the text.
const paths = {
  play: "M4.5 3v10l8-5z", pause: "M5 3v10M11 3v10", stop: "M4 4h8v8H4z",
  step: "M2 9a6 5 0 0 1 11.5-1.5M14 4v4h-4M8 12.5v.01", into: "M8 2v7M5 6.5 8 9.5l3-3M8 13v.01", out: "M8 10V3M5 5.5 8 2.5l3 3M8 13.5v.01",
  resume: "M3 3v10M6.5 3v10l7-5z", check: "M3 8.5 6.5 12 13 4.5", cross: "M4 4l8 8M12 4l-8 8", warn: "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12v.01",
  dot: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z", circle: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z", clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8V8l2.2 1.5",
  skip: "M3 8h10", pin: "M6 2h4l-.5 5 2.5 2.5H4L6.5 7zM8 9.5V14", catch: "M3 4v4a4 4 0 0 0 4 4h6M10 9l3 3-3 3", person: "M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM3 14c.5-2.7 2.5-4 5-4s4.5 1.3 5 4",
  search: "M7 2.500a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14", zoomIn: "M7 2.500a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14M7 5v4M5 7h4", zoomOut: "M7 2.500a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14M5 7h4", before: "M10.5 4v8L5 8z", after: "M5.5 4v8L11 8z", fold: "M4 8l4-4 4 4M4 12l4-4 4 4", unfold: "M4 4l4 4 4-4M4 8l4 4 4-4", plus: "M8 3v10M3 8h10", minus: "M3 8h10", down: "M4 6l4 4 4-4", right: "M6 4l4 4-4 4", left: "M10 4 6 8l4 4", up: "M4 10l4-4 4 4",
  fit: "M2.5 6V2.500H6M10 2.500h3.500V6M13.5 10v3.500H10M6 13.500H2.500V10", more: "M3.5 8v.01M8 8v.01M12.5 8v.01", sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.500M8 13.500V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1", moon: "M13.5 9.500A6 6 0 0 1 6.5 2.5 6 6 0 1 0 13.5 9.500z", auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  download: "M8 2v8M4.5 7 8 10.5 11.5 7M3 13.500h10", copy: "M5.5 5.500h8v8h-8zM10.5 5.500v-3h-8v8h3", edit: "M3 13l.7-3L11 2.7 13.3 5 6 12.300zM9.5 4.200l2.3 2.3", trash: "M3 4.500h10M6 4.500v-2h4v2M4.5 4.500l.5 9h6l.5-9", link: "M6.5 9.500l3-3M7 5l1.5-1.500a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.500a2.5 2.5 0 0 1-4-4L5 7",
  panelLeft: "M2 3h12v10H2zM6 3v10", panelRight: "M2 3h12v10H2zM10 3v10", panelBottom: "M2 3h12v10H2zM2 9.500h12", file: "M4 2h5.500L12 4.500V14H4zM9 2v3h3", tool: "M13.5 4.500a3.5 3.5 0 0 1-4.7 3.300L4.5 12.500l-1.5-1.500L7.3 6.300A3.5 3.5 0 0 1 11.5 2.500L9.5 4.500l2 2z", lock: "M4 7.500h8v6H4zM5.5 7.500V5a2.5 2.5 0 0 1 5 0v2.5", undo: "M5 4 2 7l3 3M2 7h7a4 4 0 0 1 0 8", refresh: "M13 6A5.5 5.5 0 1 0 13.5 9M13.5 2.500V6H10", filter: "M2 3h12l-4.5 5.500v4.500l-3-1.500v-3z", image: "M2 3h12v10H2zM2 11l3.5-3.5 3 3 2-2L14 12M10.5 6v.01",
  entry: "M2 8h8M7 5l3 3-3 3M13 3v10", exit: "M3 3v10M6 8h8M11 5l3 3-3 3", mcp: "M5 2v4M11 2v4M3 6h10v2a5 5 0 0 1-10 0zM8 13v2", transform: "M6 2.500C3 2.5 5 8 2.5 8 5 8 3 13.5 6 13.500M10 2.500C13 2.5 11 8 13.5 8 11 8 13 13.5 10 13.5", switch: "M8 2v4M8 6l-4.5 4v3.500M8 6l4.5 4v3.5", map: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z", loop: "M4 6a4.5 4.5 0 0 1 8.3 0M12.5 2.500V6H9M12 10a4.5 4.5 0 0 1-8.3 0M3.5 13.500V10H7", parallel: "M8 2v2.500M3 4.500h10M3 4.500v7M8 4.500v7M13 4.500v7M3 11.500h10", fail: "M5.5 2h5L14 5.500v5L10.5 14h-5L2 10.500v-5zM6 6l4 4M10 6l-4 4", call: "M3 3h10v7H3zM6 13h4M8 10v3M6 6.500h4", wait: "M4 2h8M4 14h8M5 2c0 3.5 6 4.5 6 6s-6 2.5-6 6M11 2c0 3.5-6 4.5-6 6s6 2.5 6 6", ask: "M2.5 3h11v8H8l-3.5 3v-3h-2zM6.5 6a1.5 1.5 0 1 1 1.5 1.700M8 9.300v.01", chat: "M2 3h9v6H6l-2.500 2.500V9H2zM8 11.500h4l2 2v-7h-1.500", node: "M3 4h10v8H3z",
};

export type IconName = keyof typeof paths;

const filled: IconName[] = ["play", "stop", "dot"];

/** The icon of a type of node, which may be one that the page does not know. */
export function typeIcon(type: string): IconName {
  const name = { "mcp": "mcp", "call": "call", "for": "map", "foreach": "map", "while": "loop", "human": "ask", "sample": "chat", "roots": "file", "sleep": "wait", "error": "fail" }[type] ?? type;
  return name in paths ? (name as IconName) : "node";
}

export const iconPath = (name: IconName): string => paths[name];

/** Draws an icon. Screen readers pass it over unless it has a title. */
export function Icon({ name, title }: { name: IconName; title?: string }) {
  return (
    <svg className={`icon${filled.includes(name) ? " fill" : ""}`} viewBox="0 0 16 16" role={title ? "img" : undefined} aria-label={title} aria-hidden={title ? undefined : true}>
      <path d={paths[name]} />
    </svg>
  );
}
