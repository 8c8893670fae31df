import { usePageOn, useTick } from './page-context.js'

/** Whose leases these are, who looks, and whether the page is live. */
export function TopBar() {
  const { state } = usePageOn('status')
  const { hello } = state
  return (
    <header class="top">
      <Mark />
      <h1>{hello?.title ?? 'Leases'}</h1>
      <p class="place">
        {hello !== undefined && <span>{hello.store}</span>}
        {hello !== undefined && hello.prefix !== '' && (
          <span>
            names with <code>{hello.prefix}</code>
          </span>
        )}
        {hello?.user !== undefined && <span>{hello.user}</span>}
        {hello !== undefined && <span>{hello.access === 'write' ? 'write access' : 'read-only'}</span>}
      </p>
      <StatusMark />
    </header>
  )
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M8 3H4v18h4M16 3h4v18h-4" />
      <path class="mark-bar" d="M8 12h6" />
    </svg>
  )
}

function StatusMark() {
  useTick(1_000)
  const { state, formats } = usePageOn('status')
  const { status } = state
  const text =
    status.kind === 'live'
      ? 'Live'
      : status.kind === 'stale'
        ? `Stale: ${formats.duration(state.clock.now() - status.asOf)} old`
        : 'Connecting'
  return (
    <p class="status" data-status={status.kind}>
      <span class="status-dot" aria-hidden="true" />
      {text}
    </p>
  )
}
