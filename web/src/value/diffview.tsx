import "./value.css";
import { encode, type Value } from "./json";
import { differences, lines, maxDifferences, type Lines } from "./diff";
import { jsonata } from "./path";

export interface DiffProps {
  a: Value | undefined;
  b: Value | undefined;
  nameA: string;
  nameB: string;
  /** What is compared, for screen readers. */
  label: string;
}

const maxText = 4000;

/** Diff shows two values side by side, only where they differ. */
export function Diff({ a, b, nameA, nameB, label }: DiffProps) {
  const list = differences(a, b);
  if (list.length === 0) return <p className="v-same">{a === undefined ? "Neither has a value." : "No difference."}</p>;
  return (
    <div className="v-diff" role="region" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Path</th>
            <th scope="col">{nameA}</th>
            <th scope="col">{nameB}</th>
          </tr>
        </thead>
        <tbody>
          {list.map((d, i) => {
            const texts = typeof d.a === "string" && typeof d.b === "string" && (d.a.includes("\n") || d.b.includes("\n"));
            const [left, right] = texts ? lines(d.a as string, d.b as string) : [undefined, undefined];
            return (
              <tr key={i}>
                <th scope="row">
                  <code>{jsonata("$", d.path)}</code>
                </th>
                <Side value={d.a} lines={left} sign="−" className="v-old" />
                <Side value={d.b} lines={right} sign="+" className="v-new" />
              </tr>
            );
          })}
        </tbody>
      </table>
      {list.length >= maxDifferences && <p>There are more than {maxDifferences} differences; the first ones are shown.</p>}
    </div>
  );
}

function Side({ value, lines, sign, className }: { value: Value | undefined; lines: Lines | undefined; sign: string; className: string }) {
  if (value === undefined) {
    return (
      <td>
        <span className="v-missing">not there</span>
      </td>
    );
  }
  const text = lines ? lines.lines.join("\n") : encode(value, 2);
  return (
    <td className={className}>
      {lines && lines.before > 0 && <div className="v-note">{lines.before} equal lines</div>}
      <pre>
        <span aria-hidden="true">{sign} </span>
        {text.length > maxText ? text.slice(0, maxText) + "…" : text}
      </pre>
      {lines && lines.after > 0 && <div className="v-note">{lines.after} equal lines</div>}
    </td>
  );
}
