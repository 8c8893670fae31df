import assert from 'node:assert/strict'
import { heldLeaseLawsOf, type LeaseLaw, openLeaseLawsOf } from '../lease-trial.js'
import { endsBeforeTheNext } from '../succession.js'

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
  ...openLeaseLawsOf('expiry', ['store', 'wait'], {
    async 'validity counts from the sending of a claim, not from its answer'(trial, held) {
      held.store.inject({ kind: 'answer-late', duration: trial.operationTimeout / 2 }, 'acquire')
      assert.equal(await trial.during(held.acquire()), true)
      await endsBeforeTheNext(trial, held)
    },
    async 'validity counts from the first of several claims with an unknown outcome'(trial, held) {
      // The store executes the first claim without an answer. The second never arrives, and the read then finds the grant.
      held.store.inject({ kind: 'hang', applied: true }, 'acquire')
      held.store.inject({ kind: 'fail-before' }, 'acquire')
      assert.equal(await trial.during(held.acquire({ wait: trial.ttl / 2 })), true)
      await endsBeforeTheNext(trial, held)
    },
  }),
  ...heldLeaseLawsOf('expiry', ['store', 'virtual-time'], {
    async 'a confirmation read after the end of validity does not revive the lease'(trial, held) {
      // Whenever the heartbeat is sent in the interval, it is under way at the end.
      held.disturbHeartbeat({ kind: 'delay', duration: trial.interval })
      await trial.pass(trial.interval)
      // While the heartbeat is under way, the event loop is blocked until the grant, but not the heartbeat, is over.
      held.machine.block(trial.ttl * 1.03 - trial.interval)
      assert.equal(held.lease.checkLease(), false)
      await trial.pass(0)
      assert.equal(held.lease.checkLease(), false)
      await trial.pass(trial.interval)
      assert.deepEqual(held.reasons, ['expired'])
    },
  }),
]
