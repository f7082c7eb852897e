// Which panels there are, and where they stand. A panel is a component without properties: it takes all
// from the store. `useBadge` returns what its tab shows beside the title; undefined for nothing.
import type { ComponentType, ReactNode } from "react";
import Console from "../console";
import Events from "../events";
import Graph from "../graph";
import Input from "../input";
import Inspector from "../inspector";
import Problems from "../problems";
import Runs from "../runs";
import Servers from "../servers";
import Table from "../table";
import Timeline from "../timeline";
import Tools from "./tools";
import Yaml from "../yaml";
import { useDirtyBadge, useProblemsBadge, useRunsBadge } from "./badges";

export type Area = "left" | "center" | "right" | "bottom";

export interface Panel {
  id: string;
  title: string;
  area: Area;
  component: ComponentType;
  useBadge?: () => ReactNode;
  /** Stays in the page while another tab is chosen. */
  keep?: boolean;
}

export const panels: Panel[] = [
  { id: "tools", title: "Tools", area: "left", component: Tools },
  { id: "input", title: "Input", area: "left", component: Input, keep: true },
  { id: "runs", title: "Runs", area: "left", component: Runs, useBadge: useRunsBadge },
  { id: "servers", title: "Servers", area: "left", component: Servers },
  { id: "graph", title: "Graph", area: "center", component: Graph, keep: true },
  { id: "yaml", title: "YAML", area: "center", component: Yaml, useBadge: useDirtyBadge, keep: true },
  { id: "inspector", title: "Inspector", area: "right", component: Inspector },
  { id: "timeline", title: "Timeline", area: "bottom", component: Timeline },
  { id: "table", title: "Table", area: "bottom", component: Table },
  { id: "events", title: "Events", area: "bottom", component: Events },
  { id: "console", title: "Console", area: "bottom", component: Console, keep: true },
  { id: "problems", title: "Problems", area: "bottom", component: Problems, useBadge: useProblemsBadge },
];

export const panelsOf = (area: Area): Panel[] => panels.filter((p) => p.area === area);
