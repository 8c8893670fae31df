import { RESOURCE } from '../world/settings.js'
import { letterOf } from '../world/world.js'
import { useWorld } from './player-context.js'

/** The resource behind its fencing guard. */
export function ResourceView() {
  const { writes, written, largestToken } = useWorld()
  const last = writes.at(-1)
  const refused = writes.filter(({ isAccepted }) => !isAccepted).length
  return (
    <article class="card server" aria-labelledby="resource-title">
      <div class="node-head">
        <h2 id="resource-title">Resource</h2>
        <span class="state mono">{RESOURCE}</span>
      </div>
      <dl class="facts">
        <div>
          <dt>Written</dt>
          <dd>{written ?? 'nothing yet'}</dd>
        </div>
        <div>
          <dt>Largest token</dt>
          <dd class="mono">{largestToken === undefined ? '–' : `#${largestToken}`}</dd>
        </div>
        <div>
          <dt>Refused</dt>
          <dd data-refused={refused > 0 || undefined}>{refused === 1 ? '1 write' : `${refused} writes`}</dd>
        </div>
      </dl>
      <p class="verdict" data-refused={last?.isAccepted === false || undefined}>
        {last === undefined
          ? 'No write so far.'
          : `${letterOf(last.node)} wrote with #${last.fencingToken}: ${last.isAccepted ? 'accepted' : `refused, after #${largestToken}`}`}
      </p>
    </article>
  )
}
