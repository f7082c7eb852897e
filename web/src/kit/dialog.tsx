import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./button";

/**
 * A modal dialog. Escape and the cross close it; the browser keeps the focus inside and gives it back.
 * The footer's button of type "submit" calls onSubmit.
 */
export function Dialog({ title, wide, footer, children, onClose, onSubmit }: {
  title: string; wide?: boolean; footer?: ReactNode; children: ReactNode; onClose: () => void; onSubmit?: () => void;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal();
    const first = dialog.querySelector<HTMLElement>(".body :is(input, select, textarea, button):not(:disabled)");
    (first ?? dialog.querySelector<HTMLElement>(".foot .primary"))?.focus();
    return () => dialog.close();
  }, []);
  return (
    <dialog ref={ref} className={wide ? "dialog wide" : "dialog"} aria-labelledby={heading}
      onCancel={(e) => { e.preventDefault(); onClose(); }} onKeyDown={(e) => e.stopPropagation()}>
      <form onSubmit={(e) => { e.preventDefault(); onSubmit?.(); }}>
        <div className="head"><h2 id={heading}>{title}</h2><IconButton icon="cross" label="Close" onClick={onClose} /></div>
        <div className="body">{children}</div>
        {footer && <div className="foot">{footer}</div>}
      </form>
    </dialog>
  );
}
