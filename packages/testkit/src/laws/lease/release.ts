import assert from 'node:assert/strict'
import type { Fault } from '../../faults/fault.js'
import { handled } from '../handled.js'
import { heldLeaseLawsOf, type LeaseLaw, type LeaseTrial, leaseLawsOf, type TrialLease } from '../lease-trial.js'

/** Checks that a release frees the name although this fault happens to it. */
function isTrueDespite(fault: Fault): (trial: LeaseTrial, held: TrialLease) => Promise<void> {
  return async (trial, held) => {
    held.store.inject(fault, 'release')
    assert.equal(await trial.during(held.lease.release()), true)
    await trial.openHeld()
  }
}

export const leaseReleaseLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('release', [], {
    async 'returns true, ends validity at once, and frees the name'(trial, { lease }) {
      const released = lease.release()
      assert.equal(await trial.during(released), true)
      assert.equal(lease.checkLease(), false)
      await trial.openHeld()
    },
    async 'called twice is one release'(trial, { lease }) {
      assert.deepEqual(await trial.during(Promise.all([lease.release(), lease.release()])), [true, true])
      assert.equal(await trial.during(lease.release()), true)
    },
    async 'called again later does not free the grant of a later holder'(trial, { lease }) {
      await trial.during(lease.release())
      const other = await trial.openHeld()
      await trial.during(lease.release())
      assert.equal(other.lease.checkLease(), true)
      await trial.openRefused()
    },
    async 'by a challenger that was refused frees nothing'(trial, holder) {
      const other = await trial.open()
      await trial.during(other.acquire())
      await trial.during(other.lease.release())
      assert.equal(holder.lease.checkLease(), true)
      await trial.openRefused()
    },
    async 'does not call onLost'(trial, held) {
      await trial.during(held.lease.release())
      await trial.openHeld()
      await trial.pass(trial.time.isVirtual ? 3 * trial.ttl : trial.interval)
      assert.deepEqual(held.losses, [])
    },
  }),
  ...leaseLawsOf('release', [], {
    async 'returns true when the lease was never held'(trial) {
      const { lease } = await trial.open()
      assert.equal(await trial.during(lease.release()), true)
    },
    async 'at the end of an `await using` block'(trial) {
      {
        const { lease } = await trial.openHeld()
        await trial.during(lease[Symbol.asyncDispose]())
      }
      await trial.openHeld()
    },
    async 'while the lease is being acquired leaves nothing held'(trial) {
      const { lease } = await trial.open()
      const acquired = handled(lease.acquire())
      await trial.during(lease.release())
      await trial.during(acquired)
      if (lease.checkLease()) await trial.during(lease.release())
      const other = await trial.open()
      assert.equal(await trial.during(other.acquire({ wait: trial.ttl / 2 })), true)
    },
  }),
  ...leaseLawsOf('release', ['store', 'wait'], {
    async 'also frees a claim that was given up and arrives later'(trial) {
      const late = await trial.open()
      late.store.inject({ kind: 'arrive-late', duration: trial.ttl }, 'acquire')
      assert.equal(await trial.during(late.acquire({ wait: trial.ttl })), true)
      assert.equal(await trial.during(late.lease.release()), true)
      // By now the first request has arrived, and may have been granted under an abandoned grant id.
      await trial.pass(trial.ttl * 1.2)
      assert.equal(await trial.during(late.acquire()), true)
      assert.equal(await trial.during(late.lease.release()), true)
      await trial.openHeld()
    },
  }),
  ...heldLeaseLawsOf('release', ['store'], {
    async 'by a stale holder does not free the grant of its successor'(trial, stale) {
      await stale.cutOff()
      const successor = await trial.open()
      assert.equal(await trial.during(successor.acquire({ wait: trial.takeover })), true)
      await stale.heal()
      // The outcome may be unknown: an earlier request of the lease may still hang.
      await Promise.allSettled([trial.during(stale.lease.release())])
      await trial.pass(trial.ttl)
      assert.equal(successor.lease.checkLease(), true)
      await trial.openRefused()
    },
    async 'during a heartbeat aborts the heartbeat and frees the name'(trial, held) {
      // Whenever the heartbeat is sent in the interval, it is under way at the end.
      held.disturbHeartbeat({ kind: 'delay', duration: trial.interval })
      await trial.pass(trial.interval)
      assert.equal(await trial.during(held.lease.release()), true)
      await trial.pass(trial.operationTimeout)
      await trial.openHeld()
      assert.deepEqual(held.losses, [])
    },
    async 'after a loss returns true, without a second callback'(trial, held) {
      await held.cutOff()
      await trial.pass(2 * trial.ttl)
      await held.heal()
      // The release in the background may still wait for an answer that was cut off.
      await trial.pass(trial.operationTimeout)
      assert.equal(await trial.during(held.lease.release()), true)
      assert.equal(held.losses.length, 1)
    },
    async 'rejects when the outcome is unknown, and continues in the background'(trial, held) {
      await held.cutOff()
      await assert.rejects(trial.during(held.lease.release()))
      assert.equal(held.lease.checkLease(), false)
      await held.heal()
      await trial.pass(4 * trial.operationTimeout)
      await trial.openHeld()
      assert.deepEqual(held.losses, [])
    },
    'is repeated within its time limit when it fails': isTrueDespite({ kind: 'fail-before' }),
    'returns true when its answer was lost and the claim is gone': isTrueDespite({ kind: 'fail-after' }),
  }),
]
