import assert from 'node:assert/strict'
import { heldLeaseLawsOf, type LeaseLaw, type LeaseTrial, leaseLawsOf, type TrialLease } from '../lease-trial.js'

/**
 * A challenger waits for the lease while its holder is cut off. When the challenger is granted the lease, the holder
 * no longer considers itself the holder. `before`: an event of the holder in between.
 */
async function endsBeforeTheNext(trial: LeaseTrial, held: TrialLease, before = async () => {}): Promise<void> {
  const other = await trial.open()
  const granted = other.acquire({ wait: Number.POSITIVE_INFINITY })
  const seen = granted.then(() => held.lease.checkLease())
  await before()
  await held.cutOff()
  assert.equal(await trial.during(granted), true)
  assert.equal(await seen, false)
}

export const leaseValidityLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('expiry', ['store', 'wait'], {
    async 'validity ends before another owner is granted the name'(trial, held) {
      await endsBeforeTheNext(trial, held, () => trial.pass(trial.interval))
    },
    async 'validity counts from the sending of a heartbeat, not from its answer'(trial, held) {
      held.disturbHeartbeat({ kind: 'answer-late', duration: trial.operationTimeout * 0.5 })
      await endsBeforeTheNext(trial, held, () => trial.pass(trial.interval))
    },
    async 'a late answer to a heartbeat that was given up does not extend validity'(trial, held) {
      held.disturbHeartbeat({ kind: 'answer-late', duration: trial.operationTimeout * 1.5 })
      await endsBeforeTheNext(trial, held, () => trial.pass(trial.interval))
    },
  }),
  ...leaseLawsOf('expiry', ['store', 'wait'], {
    async 'validity counts from the sending of a claim, not from its answer'(trial) {
      const held = await trial.open()
      held.store.inject({ kind: 'answer-late', duration: trial.operationTimeout / 2 }, 'acquire')
      assert.equal(await trial.during(held.acquire()), true)
      await endsBeforeTheNext(trial, held)
    },
    async 'validity counts from the first of several claims with an unknown outcome'(trial) {
      const held = await trial.open()
      // The store executes the first without an answer; the second never arrives, and the read then finds the grant.
      held.store.inject({ kind: 'hang', applied: true }, 'acquire')
      held.store.inject({ kind: 'fail-before' }, 'acquire')
      assert.equal(await trial.during(held.acquire({ wait: trial.ttl / 2 })), true)
      await endsBeforeTheNext(trial, held)
    },
  }),
  ...heldLeaseLawsOf('expiry', ['store', 'virtual-time'], {
    async 'a confirmation read after the end of validity does not revive the lease'(trial, held) {
      // Whenever it is sent in the interval, it is under way at the end.
      held.disturbHeartbeat({ kind: 'delay', duration: trial.interval })
      await trial.pass(trial.interval)
      // The heartbeat is under way when the event loop is blocked until the grant, but not the heartbeat, is over.
      held.machine.block(trial.ttl * 1.03 - trial.interval)
      assert.equal(held.lease.checkLease(), false)
      await trial.pass(0)
      assert.equal(held.lease.checkLease(), false)
      await trial.pass(trial.interval)
      assert.deepEqual(held.reasons, ['expired'])
    },
  }),
]
