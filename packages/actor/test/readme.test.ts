import { describe, expect, it } from 'vitest'
import { createActor, waitFor } from 'xstate'
import { actor as attached, configured, provider } from './readme/configured.js'
import { actor as orders } from './readme/orders.js'
import { service } from './readme/service.js'
import { actor as draining, lease, shutDown } from './readme/shutdown.js'

describe('the examples of the README', () => {
  it('a guarded reducer', async () => {
    const { children } = await waitFor(
      orders,
      (snapshot) => snapshot.matches('active') && snapshot.context.stashed === 0,
    )
    expect(children.worker?.getSnapshot().context).toBe(1)
    orders.stop()
  })

  it('a guarded actor invoked by a machine', async () => {
    const actor = createActor(service).start()
    const guard = actor.getSnapshot().children.orders
    if (guard === undefined) throw new Error('the guard is not there')
    await waitFor(guard, (snapshot) => snapshot.matches('active'))
    actor.stop()
    expect(guard.getSnapshot().status).toBe('stopped')
  })

  it('leases of a provider, by reference and by the actor system', async () => {
    await waitFor(attached, (snapshot) => snapshot.matches('active'))
    const actor = createActor(configured).start()
    await waitFor(actor, ({ context }) => context.attempts > 0)
    actor.stop()
    attached.stop()
    await provider.close()
  })

  it('a shutdown that drains', async () => {
    draining.start()
    await waitFor(draining, (snapshot) => snapshot.matches('active'))
    process.removeListener('SIGTERM', shutDown)
    await shutDown()
    expect(draining.getSnapshot().status).toBe('done')
    expect(lease.checkLease()).toBe(false)
  })
})
