import { isLocked } from '@leasehold/core'
import { LEASE, TIMES } from '../world/settings.js'
import { letterOf } from '../world/world.js'
import { usePlayer, useWorld } from './player-context.js'
import { ValidityBar } from './validity-bar.js'

/** The record of the store, with its queue. */
export function StoreView() {
  const player = usePlayer()
  const world = useWorld()
  const { record, waiters, isServerDown } = world
  return (
    <article class="card server" data-down={isServerDown || undefined} aria-labelledby="store-title">
      <div class="node-head">
        <h2 id="store-title">Store</h2>
        <span class="state">{isServerDown ? 'down' : (record?.state ?? 'empty')}</span>
      </div>
      <ValidityBar remaining={record?.remaining ?? 0} ttl={TIMES.heartbeatTimeout} />
      <dl class="facts">
        <div>
          <dt>Lease</dt>
          <dd class="mono">{LEASE}</dd>
        </div>
        <div>
          <dt>{isLocked(record) ? 'Holder' : 'Last holder'}</dt>
          <dd class="mono">{record === undefined ? '–' : `${record.owner} #${record.fencingToken}`}</dd>
        </div>
        <div>
          <dt>Queue</dt>
          <dd class="mono">{waiters.length === 0 ? '–' : waiters.map(letterOf).join(', ')}</dd>
        </div>
      </dl>
      <div class="node-buttons">
        <button
          type="button"
          class="danger"
          disabled={isServerDown || record?.state !== 'leased'}
          onClick={() => player.act(() => void world.break())}
        >
          Break lease
        </button>
        <button
          type="button"
          class="button"
          disabled={isServerDown}
          onClick={() => player.act(() => world.restartStore())}
        >
          Restart
        </button>
      </div>
    </article>
  )
}
