import assert from 'node:assert/strict'
import { AbortableCall } from '@leasehold/core/store'
import { heldLeaseLawsOf, type LeaseLaw } from '../lease-trial.js'
import { endedBefore } from '../succession.js'

const wait = Number.POSITIVE_INFINITY

export const leasePreemptionLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('break', ['store', 'break', 'wait'], {
    async 'a challenger that preempts gets the lease, and the holder is notified of the break in time'(trial, held) {
      const challenger = await trial.open()
      const preempt = { period: trial.ttl / 4, when: () => true }
      const acquired = challenger.acquire({ wait, preempt })
      await trial.pass(trial.interval + 4 * trial.operationTimeout)
      assert.deepEqual(held.reasons, ['broken'])
      assert.equal(await trial.during(acquired), true)
      assert.equal(held.lease.checkLease(), false)
    },
    async 'a holder that hears nothing of the break has stopped before the challenger is granted'(trial, held) {
      await held.cutOff()
      const challenger = await trial.open()
      const claim = challenger.acquire({ wait, preempt: { period: 0, when: () => true } })
      const acquired = endedBefore(held.lease, claim)
      await trial.pass(trial.ttl / 2)
      assert.equal(held.lease.checkLease(), true)
      assert.equal(await trial.during(acquired), true)
      await held.heal()
    },
    async 'a challenger whose condition is false breaks nothing'(trial, held) {
      const challenger = await trial.open()
      const asked: string[] = []
      const when = ({ owner }: { readonly owner: string }): boolean => {
        asked.push(owner)
        return false
      }
      const acquired = challenger.acquire({ wait: trial.ttl * 1.5, preempt: { period: trial.ttl / 4, when } })
      assert.equal(await trial.during(acquired), false)
      assert.deepEqual(asked, [held.lease.settings.owner])
      assert.equal(held.lease.checkLease(), true)
      assert.equal((await trial.outside.read(trial.name, new AbortableCall()))?.state, 'leased')
    },
  }),
]
