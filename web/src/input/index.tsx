import { useMemo } from "react";
import { Button, Empty, Markdown, MenuButton } from "../kit";
import { provideInput, runChosen, state, useSelection, useStore } from "../store";
import { changed } from "../store/store";
import { JSONText } from "../value/jsontext";
import { earlier } from "./earlier";
import { Form, issuesOf } from "./form";
import { changeInput, currentArguments, focusError, formId, inputSchema, refuse, rememberArguments, resetInput, setMode, useInput } from "./state";

// Run takes its arguments from here, also while the panel was never opened.
provideInput({
  take() {
    const { tool } = state.selection;
    if (tool === undefined) return undefined;
    const result = currentArguments(tool);
    if ("errors" in result) {
      focusError(result.errors);
      return undefined;
    }
    rememberArguments(tool, result.args);
    return result.args;
  },
  refused: (tool, error) => refuse(tool, error),
});

/** The arguments for the next run of the chosen tool: as a form, or as JSON. */
export default function InputPanel() {
  const { tool } = useSelection();
  if (tool === undefined) return <Empty title="No tool chosen" />;
  return <ToolInput key={tool} tool={tool} />;
}

function ToolInput({ tool }: { tool: string }) {
  const input = useInput(tool);
  const info = useStore((s) => s.server?.tools.find((t) => t.name === tool));
  const readOnly = useStore((s) => s.server?.readOnly ?? true);
  const paused = useStore((s) => s.startPaused);
  const schema = useMemo(() => inputSchema(tool), [tool, info]);
  const draft = input.drafts.get("");
  const issues = useMemo(() => (input.mode === "json" ? [...issuesOf(schema, input), ...input.refused] : []), [input, schema]);
  const messages = issues.filter((i) => i.message !== "is required" || input.tried);

  return (
    <div className="input-panel">
      <div className="input-bar">
        <div className="f-segments" role="radiogroup" aria-label="Edit as">
          {(["form", "json"] as const).map((mode) => (
            <label key={mode} className={input.mode === mode ? "f-chosen" : undefined} title={mode === "form" && draft ? "Correct the JSON first" : undefined}>
              <input type="radio" name="input-mode" checked={input.mode === mode} disabled={mode === "form" && draft !== undefined} onChange={() => setMode(tool, mode)} />
              {mode === "form" ? "Form" : "JSON"}
            </label>
          ))}
        </div>
        <MenuButton label="Earlier inputs" icon="clock" small items={() => earlier(tool)} />
        <Button small look="quiet" icon="undo" aria-label="Reset the input" title="Reset the input" onClick={() => resetInput(tool)} />
      </div>
      {info?.description && (
        <div className="input-description">
          <Markdown text={info.description} />
        </div>
      )}
      {input.mode === "form" ? (
        <Form id={formId} schema={schema} state={input} more={input.refused} tried={input.tried} onState={(change) => changeInput(tool, change)} />
      ) : (
        <div className="f-field">
          <JSONText
            id={formId}
            label={`Arguments of ${tool} as JSON`}
            value={input.value}
            draft={draft?.text}
            rows={12}
            invalid={messages.length > 0}
            describedBy={messages.length > 0 ? "input-errors" : undefined}
            onChange={(value, error, text) =>
              changeInput(tool, (s) => (error ? { ...s, drafts: new Map([["", { text: text ?? "", message: error }]]) } : { value, drafts: new Map() }))
            }
          />
          <label className="sr-only" htmlFor={formId}>
            Arguments of {tool} as JSON
          </label>
          {messages.length > 0 && (
            <ul className="f-error" id="input-errors">
              {messages.slice(0, 12).map((i, n) => (
                <li key={n}>
                  {i.pointer !== "" && <code>{i.pointer}</code>} {i.message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      {!readOnly && (
        <div className="input-run">
          <Button look="primary" icon="play" onClick={() => void runChosen()}>
            Run
          </Button>
          <label className="check">
            <input
              type="checkbox"
              checked={paused}
              onChange={(e) => {
                state.startPaused = e.target.checked;
                changed();
              }}
            />
            Start paused
          </label>
        </div>
      )}
    </div>
  );
}
