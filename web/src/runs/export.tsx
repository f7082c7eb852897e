import { useEffect, useState } from "react";
import { api } from "../api";
import type { RunState } from "../api/types";
import { Button, copy, Dialog, download } from "../kit";

type Texts = Awaited<ReturnType<typeof api.exportTest>>;

/** TestExport shows a run as a test with its cassette. */
export function TestExport({ run, onClose }: { run: RunState; onClose: () => void }) {
  const [texts, setTexts] = useState<Texts>();
  const [error, setError] = useState("");
  useEffect(() => {
    api.exportTest(run.id).then(setTexts, (e: unknown) => setError(e instanceof Error ? e.message : String(e)));
  }, [run.id]);
  const part = (title: string, name: string, text: string, type: string) => (
    <section className="export-part">
      <div className="i-actions">
        <h3>{title}</h3>
        <code className="grow ellipsis">{name}</code>
        <Button small icon="copy" onClick={() => void copy(text, title)}>Copy</Button>
        <Button small icon="download" onClick={() => download(name, text, type)}>Download</Button>
      </div>
      <pre className="i-yaml" tabIndex={0} aria-label={title}>{text}</pre>
    </section>
  );
  return (
    <Dialog title={`Test from the run of ${run.tool}`} wide onClose={onClose} footer={<Button onClick={onClose}>Close</Button>}>
      {error !== "" ? <p className="error-text">{error}</p> : !texts ? <p className="muted">Loading …</p> : (
        <>
          <p className="muted">Save both files beside the configuration, then run <code>mcpgraph test</code>. The cassette holds what the servers answered.</p>
          {part("Test", texts.names.test, texts.test, "text/yaml")}
          {part("Cassette", texts.names.cassette, texts.cassette, "application/json")}
        </>
      )}
    </Dialog>
  );
}
