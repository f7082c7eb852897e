import { Badge, Button, copy, Empty } from "../kit";
import { select, showPanel, state } from "../store";
import type { GNode } from "../api/types";

/** DefinitionTab shows the YAML of a node. */
export function DefinitionTab({ node }: { node: GNode | undefined }) {
  if (!node) return <Empty title="Not in the file" ><p>The file that is loaded has no such node. The run may be of an earlier version of it.</p></Empty>;
  return (
    <div className="i-scroll">
      <div className="i-actions">
        <Button small icon="file" onClick={() => { select({ key: node.key }); showPanel("yaml"); }}>
          Show in YAML
        </Button>
        <Button small look="quiet" icon="copy" onClick={() => void copy(node.yaml, "YAML")}>
          Copy
        </Button>
        <span className="muted small">
          {state.server?.file.name}:{node.span.from.line}
        </span>
      </div>
      <p className="i-badges">
        <Badge>{node.type}</Badge>
        {node.server && <Badge>{node.server}{node.tool ? ` · ${node.tool}` : ""}</Badge>}
        {node.calls && <Badge>calls {node.calls}</Badge>}
        {node.policies?.map((p) => <Badge key={p}>{p}</Badge>)}
      </p>
      <pre className="i-yaml" tabIndex={0} aria-label={`Definition of ${node.id}`}>
        {node.yaml}
      </pre>
    </div>
  );
}
