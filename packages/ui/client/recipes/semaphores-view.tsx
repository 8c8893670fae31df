import type { SemaphoreView } from '../../src/protocol.js'
import { Instant } from '../shell/instant.js'
import { usePageOn } from '../shell/page-context.js'
import { Card, CardsView } from './cards.js'

/** With more permits, single boxes would be too small to see. */
const mostBoxes = 60

export function SemaphoresView() {
  const { state } = usePageOn('recipes')
  const { semaphores } = state.recipes
  return (
    <CardsView
      id="semaphores"
      title="Semaphores and read-write leases"
      count={semaphores.length}
      none="There is no semaphore and no read-write lease in this store."
    >
      {semaphores.map((semaphore) => (
        <SemaphoreCard key={`${semaphore.kind} ${semaphore.name}`} semaphore={semaphore} />
      ))}
    </CardsView>
  )
}

function SemaphoreCard({ semaphore }: { readonly semaphore: SemaphoreView }) {
  const { formats } = usePageOn('status')
  const { name, kind, permits, inUse, waiters, writer } = semaphore
  const used = `${formats.number(inUse.length)} of ${formats.number(permits)}`
  return (
    <Card name={name} note={kind === 'semaphore' ? 'semaphore' : 'read-write lease'}>
      {writer !== undefined && (
        <p>
          Writer: <strong class="mono breaks">{writer}</strong>
        </p>
      )}
      <p>
        <strong>{used}</strong> {kind === 'semaphore' ? 'permits in use' : 'readers'}
        {waiters !== undefined && waiters > 0 && <>, {formats.number(waiters)} waiting</>}
      </p>
      <Boxes semaphore={semaphore} />
      {inUse.length > 0 && (
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Slot</th>
              <th scope="col">Holder</th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {inUse.map(({ slot, owner, since }) => (
              <tr key={slot}>
                <td class="mono">{slot}</td>
                <td class="mono breaks">{owner}</td>
                <td>{since === undefined ? 'not known' : <Instant at={since} isRelative={false} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

/** A box for each permit: full ones are in use. The text above says the same. */
function Boxes({ semaphore: { permits, inUse } }: { readonly semaphore: SemaphoreView }) {
  if (permits > mostBoxes) {
    return (
      <div class="boxes share-box" aria-hidden="true">
        <span class="share" style={{ width: `${Math.min(100, (100 * inUse.length) / permits)}%` }} />
      </div>
    )
  }
  const used = new Set(inUse.map(({ slot }) => slot))
  return (
    <div class="boxes" aria-hidden="true">
      {Array.from({ length: Math.max(permits, 0) }, (_, slot) => (
        // Slots have no other name than their number.
        <span key={`slot ${slot}`} class="box" data-used={used.has(slot) || undefined} />
      ))}
    </div>
  )
}
