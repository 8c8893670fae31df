import assert from 'node:assert/strict'
import { LeaseUnavailableError } from '@leasehold/core'
import { heldLeaseLawsOf, type LeaseLaw, leaseLawsOf } from '../lease-trial.js'

export const leaseShutdownLaws: readonly LeaseLaw[] = [
  ...leaseLawsOf('shutdown', ['store'], {
    async 'close notifies the holder, frees the name, and rejects later claims'(trial) {
      const held = await trial.openHeld()
      await trial.during(held.storeLease.close())
      assert.deepEqual(held.reasons, ['closed'])
      await assert.rejects(held.acquire(), LeaseUnavailableError)
      await trial.openHeld()
    },
    async 'close of an idle lease notifies no callback'(trial) {
      const lease = await trial.open()
      await trial.during(lease.storeLease.close())
      assert.deepEqual(lease.losses, [])
    },
  }),
  ...heldLeaseLawsOf('shutdown', ['store', 'wait'], {
    async 'close ends the wait of waiters'(trial) {
      const waiter = await trial.open()
      const waited = waiter.acquire({ wait: Number.POSITIVE_INFINITY }).catch(() => false)
      await trial.pass(trial.interval / 5)
      await trial.during(waiter.storeLease.close())
      assert.equal(await trial.during(waited), false)
      assert.equal(waiter.lease.checkLease(), false)
    },
  }),
  ...heldLeaseLawsOf('shutdown', ['closing'], {
    async 'closing the store ends held leases at once and rejects waiters'(trial, held) {
      const waiter = await trial.open()
      const waited = waiter.acquire({ wait: Number.POSITIVE_INFINITY }).catch((error: unknown) => error)
      await trial.pass(trial.interval / 5)
      await trial.during(Promise.all([held.store.close(), waiter.store.close()]))
      assert.equal(held.lease.checkLease(), false)
      assert.deepEqual(held.reasons, ['closed'])
      assert(held.storeLease.remaining === 0 && (await trial.during(waited)) instanceof LeaseUnavailableError)
      const later = waiter.acquire({ wait: Number.POSITIVE_INFINITY })
      await assert.rejects(trial.during(later), LeaseUnavailableError)
    },
  }),
  ...heldLeaseLawsOf('shutdown', ['store', 'virtual-time'], {
    async 'a lease that was released leaves no timer behind'(trial, { lease, machine }) {
      await trial.pass(trial.ttl)
      await trial.during(lease.release())
      await trial.pass(trial.ttl)
      assert.equal(machine.pending, 0)
    },
    async 'a lease that was lost leaves no timer behind'(trial, held) {
      await held.cutOff()
      await trial.pass(4 * trial.ttl)
      await held.heal()
      await trial.pass(4 * trial.ttl)
      assert.equal(held.machine.pending, 0)
    },
  }),
  ...heldLeaseLawsOf('shutdown', ['store', 'virtual-time', 'wait'], {
    async 'a wait that was given up leaves no timer behind'(trial) {
      const waiter = await trial.open()
      await trial.during(waiter.acquire({ wait: trial.ttl }))
      await trial.pass(trial.ttl)
      assert.equal(waiter.machine.pending, 0)
    },
  }),
]
