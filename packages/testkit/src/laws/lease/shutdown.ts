import assert from 'node:assert/strict'
import { LeaseUnavailableError } from '@leasehold/core'
import { lawFor } from '../law.js'
import type { LeaseLaw } from '../lease-trial.js'

export const leaseShutdownLaws: readonly LeaseLaw[] = [
  lawFor(
    ['store'],
    'shutdown',
    'close notifies the holder, frees the name, and rejects later claims',
    async (trial) => {
      const held = await trial.openHeld()
      await trial.during(held.storeLease.close())
      assert.deepEqual(
        held.losses.map(({ reason }) => reason),
        ['closed'],
      )
      await assert.rejects(held.acquire(), LeaseUnavailableError)
      const other = await trial.open()
      assert.equal(await trial.during(other.acquire()), true)
    },
  ),
  lawFor(['store'], 'shutdown', 'close of an idle lease notifies no callback', async (trial) => {
    const lease = await trial.open()
    await trial.during(lease.storeLease.close())
    assert.deepEqual(lease.losses, [])
  }),
  lawFor(['store', 'wait'], 'shutdown', 'close ends the wait of waiters', async (trial) => {
    await trial.openHeld()
    const waiter = await trial.open()
    const waited = waiter.acquire({ wait: Number.POSITIVE_INFINITY }).catch(() => false)
    await trial.pass(trial.interval / 5)
    await trial.during(waiter.storeLease.close())
    assert.equal(await trial.during(waited), false)
    assert.equal(waiter.lease.checkLease(), false)
  }),
  lawFor(['closing'], 'shutdown', 'closing the store ends held leases at once and rejects waiters', async (trial) => {
    const held = await trial.openHeld()
    const waiter = await trial.open()
    const waited = waiter.acquire({ wait: Number.POSITIVE_INFINITY }).catch((error: unknown) => error)
    await trial.pass(trial.interval / 5)
    await trial.during(Promise.all([held.store.close(), waiter.store.close()]))
    assert.equal(held.lease.checkLease(), false)
    assert.deepEqual(
      held.losses.map(({ reason }) => reason),
      ['closed'],
    )
    assert(held.storeLease.remaining === 0 && (await trial.during(waited)) instanceof LeaseUnavailableError)
    const later = waiter.acquire({ wait: Number.POSITIVE_INFINITY })
    await assert.rejects(trial.during(later), LeaseUnavailableError)
  }),
  lawFor(['store', 'virtual-time'], 'shutdown', 'a lease that was released leaves no timer behind', async (trial) => {
    const { lease, machine } = await trial.openHeld()
    await trial.pass(trial.ttl)
    await trial.during(lease.release())
    await trial.pass(trial.ttl)
    assert.equal(machine.pending, 0)
  }),
  lawFor(['store', 'virtual-time'], 'shutdown', 'a lease that was lost leaves no timer behind', async (trial) => {
    const held = await trial.openHeld()
    await held.cutOff()
    await trial.pass(4 * trial.ttl)
    await held.heal()
    await trial.pass(4 * trial.ttl)
    assert.equal(held.machine.pending, 0)
  }),
  lawFor(
    ['store', 'virtual-time', 'wait'],
    'shutdown',
    'a wait that was given up leaves no timer behind',
    async (trial) => {
      await trial.openHeld()
      const waiter = await trial.open()
      await trial.during(waiter.acquire({ wait: trial.ttl }))
      await trial.pass(trial.ttl)
      assert.equal(waiter.machine.pending, 0)
    },
  ),
]
