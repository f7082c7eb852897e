// What stands between the text and the file: conflicts, errors, requests that failed.
import { Button, count, Icon } from "../kit";
import type { FileState } from "./file";
import { file, goTo } from "./model";

export function Bars({ f, comparing, onCompare, onForce }: { f: FileState; comparing: boolean; onCompare: () => void; onForce: () => void }) {
  const errors = f.refused?.problems.filter((p) => p.severity === "error") ?? [];
  const first = errors[0];
  return (
    <>
      {f.conflict && (
        <div className="yaml-message is-warning" role="alert">
          <Icon name="warn" />
          <span className="grow">The file has changed on disk, and here are changes that are not saved.</span>
          <Button small aria-pressed={comparing} onClick={onCompare}>{comparing ? "Hide both" : "Show both"}</Button>
          {!comparing && <Button small title="Write this text over the one on disk" onClick={() => void file.keepMine()}>Save mine</Button>}
          {!comparing && <Button small title="Drop the changes that are not saved" onClick={() => file.takeTheirs()}>Take the file's</Button>}
        </div>
      )}
      {f.refused && (
        <div className="yaml-message is-error" role="alert">
          <Icon name="cross" />
          <span className="grow">
            Not saved: {errors.length > 0 ? count(errors.length, "error") : f.refused.message}
            {first && <>. Line {first.span.from.line}, column {first.span.from.col}: {first.message}</>}
          </span>
          {first && <Button small onClick={() => goTo({ pos: first.span.from })}>Go there</Button>}
          <Button small title="Save the text with its errors; mcpgraph goes on with the last good version" onClick={onForce}>Save all the same</Button>
          <Button small look="quiet" icon="cross" aria-label="Close the message" title="Close" onClick={() => file.dismiss()} />
        </div>
      )}
      {f.error && (
        <div className="yaml-message is-error" role="alert">
          <Icon name="warn" /><span className="grow">{f.error}</span>
          {!f.loaded && <Button small icon="refresh" onClick={() => location.reload()}>Load again</Button>}
          <Button small look="quiet" icon="cross" aria-label="Close the message" title="Close" onClick={() => file.dismiss()} />
        </div>
      )}
    </>
  );
}
