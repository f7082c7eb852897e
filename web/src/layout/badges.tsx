import { createElement, type ReactNode } from "react";
import { Badge } from "../kit";
import { useStore } from "../store";
import { useDirty, useProblems } from "../yaml/model";

/** How many problems the file has, as it is edited. */
export function useProblemsBadge(): ReactNode {
  const problems = useProblems();
  if (problems.length === 0) return undefined;
  const errors = problems.some((p) => p.severity === "error");
  return createElement(Badge, { look: errors ? "error" : "warning", children: problems.length });
}

/** Whether the text has changes that are not saved. */
export function useDirtyBadge(): ReactNode {
  return useDirty() ? createElement(Badge, { look: "warning", title: "changes that are not saved", children: "not saved" }) : undefined;
}

/** How many runs are under way. */
export function useRunsBadge(): ReactNode {
  const live = useStore((s) => [...s.runs.values()].filter((r) => !r.ended).length);
  return live ? createElement(Badge, { title: "under way", children: live }) : undefined;
}
