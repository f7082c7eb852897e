import type { ReactNode } from "react";

export function Badge({ look, title, children }: { look?: "error" | "warning"; title?: string; children: ReactNode }) {
  return <span className={look ? `badge ${look}` : "badge"} title={title}>{children}</span>;
}

/** What a panel shows where there is nothing to show. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return <div className="empty"><h2>{title}</h2>{children}</div>;
}
