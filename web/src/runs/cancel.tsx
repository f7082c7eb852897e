import { useState } from "react";
import type { RunState } from "../api/types";
import { Button, Dialog } from "../kit";
import { cancelDurable } from "../store";

/** CancelRun asks whether a durable run is to be cancelled. */
export function CancelRun({ run, onClose }: { run: RunState; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    await cancelDurable(run);
    onClose();
  };
  return (
    <Dialog title={`Cancel the run of ${run.tool || "a tool"}?`} onClose={onClose} onSubmit={() => void cancel()}
      footer={<><Button onClick={onClose}>Let it run</Button><Button type="submit" look="primary" disabled={busy}>Cancel the run</Button></>}>
      <p>Its calls under way end within seconds. What they have changed stays changed, and the run cannot be resumed.</p>
      <p className="muted">Run <code>{run.id}</code>{run.caller && <> of <code>{run.caller}</code></>}</p>
    </Dialog>
  );
}
