import { Icon } from "../kit";
import { useRun, useStore } from "../store";

/** Says above the panes why durable runs, or the chosen one, cannot be shown as they are. It goes away by itself. */
export function Trouble() {
  const run = useRun();
  const place = useStore((s) => s.durable.problem);
  const text = place ?? run?.durable?.problem;
  return (
    <div role="status" aria-label="State of durable runs">
      {text && (
        <p className="trouble">
          <span className="sign s-paused"><Icon name="warn" /></span>
          <span>{text.charAt(0).toUpperCase() + text.slice(1)}.</span>
        </p>
      )}
    </div>
  );
}
