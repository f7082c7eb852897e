import { createElement, type ReactNode } from "react";
import { Badge } from "../kit";
import { useStore } from "../store";

/** How many problems the file has. */
export function useProblemsBadge(): ReactNode {
  const problems = useStore((s) => s.server?.problems);
  if (!problems?.length) return undefined;
  const errors = problems.some((p) => p.severity === "error");
  return createElement(Badge, { look: errors ? "error" : "warning", children: problems.length });
}

/** How many runs are under way. */
export function useRunsBadge(): ReactNode {
  const live = useStore((s) => [...s.runs.values()].filter((r) => !r.ended).length);
  return live ? createElement(Badge, { title: "under way", children: live }) : undefined;
}
