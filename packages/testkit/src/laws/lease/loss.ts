import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { LeaseLostError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { handled } from '../handled.js'
import {
  heldLeaseLawsOf,
  type LeaseLaw,
  type LeaseTrial,
  leaseLawsOf,
  openLeaseLawsOf,
  type TrialLease,
} from '../lease-trial.js'

const call = new AbortableCall()

/** Cuts a holder off until its validity is over, and then for as long again. */
async function outlive(trial: LeaseTrial, held: TrialLease): Promise<void> {
  await held.cutOff()
  await trial.pass(2 * trial.ttl)
}

export const leaseLossLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('loss', ['store'], {
    async 'a holder without the store is notified once that the lease has expired'(trial, held) {
      await outlive(trial, held)
      assert.deepEqual(held.reasons, ['expired'])
      assert.equal(held.lease.checkLease(), false)
      assert.equal(held.lease.fencingToken, undefined)
      await trial.pass(2 * trial.ttl)
      assert.deepEqual(held.reasons, ['expired'])
    },
    async 'the signal aborts at the loss, with the reason in its error'(trial, held) {
      const lost = held.storeLease.signal
      assert.equal(lost.aborted, false)
      await outlive(trial, held)
      assert.equal(lost.aborted, true)
      assert(lost.reason instanceof LeaseLostError)
      assert.equal(lost.reason.reason, 'expired')
    },
    async 'a lease that was lost can be acquired again, under a larger token'(trial, held) {
      const token = held.lease.fencingToken
      await outlive(trial, held)
      await held.heal()
      assert.equal(await trial.during(held.acquire({ wait: trial.takeover })), true)
      assert(held.lease.fencingToken !== undefined && token !== undefined && held.lease.fencingToken > token)
      assert.deepEqual(held.reasons, ['expired'])
    },
    async 'a holder with a successor is notified of the loss once, and the successor holds the lease'(trial, held) {
      await held.cutOff()
      const other = await trial.open({ owner: 'successor' })
      assert.equal(await trial.during(other.acquire({ wait: trial.takeover })), true)
      await held.heal()
      await trial.pass(trial.ttl)
      assert.equal(held.losses.length, 1)
      assert.equal(held.lease.checkLease(), false)
      assert.equal(other.lease.checkLease(), true)
    },
  }),
  ...openLeaseLawsOf('loss', ['store'], {
    async 'checkLease is false when a loss is notified'(trial, held) {
      const seen: boolean[] = []
      await trial.during(held.lease.acquire({ onLost: () => seen.push(held.lease.checkLease()) }))
      await outlive(trial, held)
      assert.deepEqual(seen, [false])
    },
    async 'each caller that was granted the lease is notified of its loss'(trial, held) {
      await trial.during(Promise.all([held.acquire(), held.acquire()]))
      await trial.during(held.acquire())
      await outlive(trial, held)
      assert.deepEqual(held.reasons, ['expired', 'expired', 'expired'])
    },
    async 'a callback that throws does not keep others from being called'(trial, held) {
      const onLost = (): void => {
        throw new Error('of the callback')
      }
      await trial.during(Promise.all([held.lease.acquire({ onLost }), held.acquire()]))
      const errors: unknown[] = []
      held.storeLease.on('error', (error) => errors.push(error))
      await outlive(trial, held)
      assert.deepEqual(held.reasons, ['expired'])
      assert.equal(errors.length, 1)
    },
    async 'run ends with a LeaseLostError at once, even if its work goes on'(trial, held) {
      const running = held.storeLease.run(() => new Promise(() => {}))
      const rejected = handled(assert.rejects(running, LeaseLostError))
      await trial.pass(trial.interval)
      await outlive(trial, held)
      await rejected
    },
  }),
  ...leaseLawsOf('loss', ['store'], {
    async 'a lease is held for maxHold at most'(trial) {
      const held = await trial.openHeld({ maxHold: 1.5 * trial.ttl })
      await trial.pass(1.2 * trial.ttl)
      assert.equal(held.lease.checkLease(), true)
      await trial.pass(0.4 * trial.ttl)
      assert.deepEqual(held.reasons, ['max-hold'])
      await trial.openHeld()
    },
  }),
  ...heldLeaseLawsOf('loss', ['store', 'deletion'], {
    async 'a holder is notified of a deleted record at its next heartbeat'(trial, held) {
      await trial.backend.delete?.(trial.name)
      await trial.pass(trial.interval + trial.operationTimeout)
      assert.deepEqual(held.reasons, ['deleted'])
    },
    async 'a loss after a deletion names the new holder'(trial, held) {
      // There must be no heartbeat until the other owner is the holder: it would find the record deleted.
      await held.cutOff()
      await trial.pass(trial.operationTimeout)
      await trial.backend.delete?.(trial.name)
      const request = { name: trial.name, owner: 'usurper', grantId: randomUUID(), ttl: trial.ttl }
      assert.equal((await trial.outside.acquire(request, call)).granted, true)
      await held.heal()
      await trial.pass(trial.interval + 2 * trial.operationTimeout)
      assert.deepEqual(held.reasons, ['taken'])
      assert.equal(held.losses[0]?.owner, 'usurper')
    },
  }),
  ...heldLeaseLawsOf('break', ['store', 'break'], {
    async 'a holder is notified of a break within one heartbeat'(trial, held) {
      await trial.outside.break?.(trial.name, { reason: 'maintenance' }, call)
      await trial.pass(trial.interval + trial.operationTimeout)
      assert.deepEqual(held.reasons, ['broken'])
      assert.equal(held.lease.checkLease(), false)
    },
    async 'after a break with a period the name is free when it is over'(trial, held) {
      const other = await trial.open()
      await trial.outside.break?.(trial.name, { period: trial.ttl / 2 }, call)
      assert.equal(await trial.during(other.acquire()), false)
      assert.equal(await trial.during(other.acquire({ wait: 2 * trial.ttl })), true)
      assert.equal(held.lease.checkLease(), false)
    },
  }),
  ...leaseLawsOf('infinite', ['store', 'infinite'], {
    async 'a lease without expiry outlives any outage'(trial) {
      const held = await trial.openHeld({ ttl: Number.POSITIVE_INFINITY })
      await held.cutOff()
      await trial.pass((trial.time.isVirtual ? 100 : 2) * trial.ttl)
      assert.equal(held.lease.checkLease(), true)
      assert.deepEqual(held.losses, [])
      await trial.openRefused()
    },
  }),
  ...leaseLawsOf('infinite', ['store', 'infinite', 'break'], {
    async 'the holder of a lease without expiry is notified of a break'(trial) {
      const held = await trial.openHeld({ ttl: Number.POSITIVE_INFINITY })
      await trial.outside.break?.(trial.name, {}, call)
      await trial.pass(trial.interval + trial.operationTimeout)
      assert.deepEqual(held.reasons, ['broken'])
    },
  }),
]
