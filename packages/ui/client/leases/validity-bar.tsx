import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Entry } from '../list/entry.js'
import { validityOf } from '../list/validity.js'
import { usePage } from '../shell/page-context.js'

/** How much of the validity is left, as a bar and as text. A stale page does not know: its bars stop, and show nothing. */
export function ValidityBar({ entry, isStale }: { readonly entry: Entry; readonly isStale: boolean }) {
  const { state, formats } = usePage()
  const validity = validityOf(entry, state.clock.now())
  if (validity.kind === 'none') return <span class="none">–</span>
  if (isStale) return <Bar text="unknown" kind="unknown" />
  if (validity.kind === 'endless') return <Bar text="no end" kind="endless" />
  const { ttl, remaining } = validity
  const text = remaining === 0 ? 'ended' : formats.duration(remaining + 999)
  return <Bar text={text} kind="counting" ttl={ttl} validUntil={entry.validUntil} isLow={remaining < ttl / 4} />
}

function Bar(bar: {
  readonly kind: 'counting' | 'endless' | 'unknown'
  readonly text: string
  readonly ttl?: number
  readonly validUntil?: number | undefined
  readonly isLow?: boolean
}) {
  const { ttl, validUntil } = bar
  const { clock } = usePage().state
  const filling = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    if (ttl === undefined || validUntil === undefined || ttl === 0) return undefined
    // The browser draws it from here on: no code runs in each frame.
    const steps = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'steps(8, end)' : 'linear'
    const animation = filling.current?.animate([{ transform: 'scaleX(1)' }, { transform: 'scaleX(0)' }], {
      duration: ttl,
      easing: steps,
      fill: 'both',
    })
    if (animation !== undefined) animation.currentTime = Math.max(0, ttl - (validUntil - clock.now()))
    return () => animation?.cancel()
  }, [clock, ttl, validUntil])
  return (
    <span class="validity" data-kind={bar.kind} data-low={bar.isLow || undefined}>
      <span class="bar" aria-hidden="true">
        <span ref={filling} class="bar-filling" />
      </span>
      <span class="validity-text">{bar.text}</span>
    </span>
  )
}
