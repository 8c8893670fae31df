import type { RowState } from '../../src/protocol.js'

export const stateTexts: Readonly<Record<RowState, string>> = {
  leased: 'Held',
  expired: 'Expired',
  breaking: 'Breaking',
  broken: 'Broken',
  available: 'Free',
}

/** Each state has a shape of its own, for those who do not see colours. */
const shapes: Readonly<Record<RowState, string>> = {
  leased: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3',
  expired: 'M8 2.5 14 13.5H2z',
  breaking: 'M8 3a5 5 0 0 0 0 10zM9.5 3.3v9.4a5 5 0 0 0 0-9.4',
  broken: 'M4 2.6 8 6.6l4-4L13.4 4l-4 4 4 4L12 13.4l-4-4-4 4L2.6 12l4-4-4-4z',
  available: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3m0 1.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8',
}

/** A stale state is one of the past, and says so. */
export function StateMark({ state, isStale }: { readonly state: RowState; readonly isStale: boolean }) {
  const text = stateTexts[state] ?? state
  return (
    <span class="state" data-state={state}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path fill-rule="evenodd" d={shapes[state] ?? shapes.available} />
      </svg>
      {isStale ? `was ${text.toLowerCase()}` : text}
    </span>
  )
}
