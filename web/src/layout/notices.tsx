import { Button, Icon, IconButton } from "../kit";
import { dismiss, useStore } from "../store";

/** Messages at the corner of the page. */
export function Notices() {
  const notices = useStore((s) => s.notices);
  return (
    <div className="notices">
      {notices.map((n) => (
        <div key={n.id} className={`notice ${n.kind}`} role={n.kind === "error" ? "alert" : "status"}>
          <span className={`sign s-${n.kind === "error" ? "failed" : "done"}`}><Icon name={n.kind === "error" ? "warn" : "check"} /></span>
          <span className="grow">{n.text}</span>
          {n.action && <Button small onClick={() => { n.action!.run(); dismiss(n.id); }}>{n.action.label}</Button>}
          <IconButton small icon="cross" label="Close the message" onClick={() => dismiss(n.id)} />
        </div>
      ))}
    </div>
  );
}
