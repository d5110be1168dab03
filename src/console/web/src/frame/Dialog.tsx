// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, type ReactNode } from "react";

/** A box above the page that Escape or a click beside it closes. */
export function Dialog({ title, close, children }: {
  title: string; close: () => void; children: ReactNode;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box} className="dialog" aria-label={title} onCancel={close}
      onClick={(event) => { if (event.target === box.current) close(); }}
    >
      <div className="dialog-inside">{children}</div>
    </dialog>
  );
}
