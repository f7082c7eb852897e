// Both texts of a conflict, and the choice between them.
import { useEffect, useRef, useState } from "react";
import { Button } from "../kit";
import { nonce } from "../layout/nonce";
import type { Comparison } from "./editor";
import { loadEditor } from "./load";
import { file } from "./model";

export function Compare({ theirs }: { theirs: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Comparison>();
  const decided = useRef(false);
  const decide = (take: () => void) => {
    decided.current = true;
    take();
  };
  useEffect(() => {
    let made: Comparison | undefined, gone = false;
    void loadEditor().then((b) => {
      if (gone) return;
      made = b.compare({
        theirs, mine: file.get().text, nonce: nonce(), theirsLabel: "The file on disk, read-only",
        mineLabel: "My text: edit it to merge both. Press Escape, then Tab, to leave the editor.",
      });
      box.current!.append(made.dom);
      made.focus();
      setView(made);
    });
    return () => {
      gone = true;
      // What was merged so far outlives the view, unless one of the texts was chosen.
      if (made && !decided.current) file.replace(made.text());
      made?.destroy();
    };
  }, [theirs]);
  return (
    <div className="yaml-compare">
      <div className="yaml-sides">
        <div><strong>On disk</strong><Button small title="Drop the changes that are not saved" onClick={() => decide(() => file.takeTheirs())}>Take this one</Button></div>
        <div>
          <strong>Mine</strong><Button small title="Write my text over the one on disk" onClick={() => view && decide(() => { file.merged(view.text()); void file.save(); })}>Save this one</Button>
          <Button small title="Go on editing with the text on this side, based on the file as it is now" onClick={() => view && decide(() => file.merged(view.text()))}>Go on with it</Button>
          <span className="muted ellipsis">edit it here, or take parts with the arrows</span>
        </div>
      </div>
      <div ref={box} className="yaml-merge" />
    </div>
  );
}
