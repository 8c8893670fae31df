import { usePage, useTick } from './page-context.js'

/** An instant, as a time of day and as the time from now. */
export function Instant({ at, isRelative = true }: { readonly at: number; readonly isRelative?: boolean }) {
  useTick(1_000)
  const { state, formats } = usePage()
  const date = new Date(at)
  // An instant that no date can have must not stop the page.
  if (Number.isNaN(date.getTime())) return <span class="none">–</span>
  const now = state.knownUntil
  return (
    <time dateTime={date.toISOString()} title={formats.dateAndTime(at)}>
      {formats.time(at, now)}
      {isRelative && <span class="none"> {formats.relative(at, now)}</span>}
    </time>
  )
}
