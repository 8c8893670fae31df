import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A button that opens a dialog. The browser keeps the focus inside it, and gives it back to the button. */
export function DialogButton(dialog: {
  readonly text: string
  readonly kind: 'button' | 'danger'
  readonly title: string
  /** Without it, there is no button; a dialog that is open stays. */
  readonly isOffered: boolean
  /** The content of the dialog; `close` closes it. */
  readonly children: (close: () => void) => ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  // Its fields are drawn by now: the first one gets the focus.
  useLayoutEffect(() => {
    if (isOpen) element.current?.showModal()
  }, [isOpen])
  return (
    <>
      {(dialog.isOffered || isOpen) && (
        <button type="button" class={dialog.kind} onClick={() => setOpen(true)}>
          {dialog.text}
        </button>
      )}
      <dialog ref={element} aria-label={dialog.title} onClose={() => setOpen(false)}>
        {isOpen && (
          <>
            <h2>{dialog.title}</h2>
            {dialog.children(() => element.current?.close())}
          </>
        )}
      </dialog>
    </>
  )
}
