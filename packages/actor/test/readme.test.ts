import { describe, expect, it } from 'vitest'
import { createActor, waitFor } from 'xstate'
import { actor as orders } from './readme/orders.js'
import { service } from './readme/service.js'

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
})
