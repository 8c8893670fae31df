import assert from 'node:assert/strict'
import { AbortableCall } from '@leasehold/core/store'
import { heldLeaseLawsOf, type LeaseLaw, type LeaseTrial, type TrialLease } from '../lease-trial.js'
import { endsBeforeTheNext } from '../succession.js'

/** Hands a lease off and adopts it. */
async function handOver(trial: LeaseTrial, from: TrialLease, to: TrialLease) {
  const handOff = await trial.during(from.storeLease.handOff({ owner: to.lease.settings.owner }))
  assert.equal(await trial.during(to.storeLease.adopt(handOff)), true)
  return handOff
}

/** Like `handOver`. Checks that the record then has the ttl and the token of the adopter. */
async function pass(trial: LeaseTrial, from: TrialLease, to: TrialLease): Promise<void> {
  const { owner, timeouts } = to.lease.settings
  const handOff = await handOver(trial, from, to)
  const record = await trial.outside.read(trial.name, new AbortableCall())
  assert.equal(record?.owner, owner)
  assert.equal(record.fencingToken, to.lease.fencingToken)
  if (record.ttl !== undefined) assert.equal(record.ttl, timeouts.heartbeatTimeout)
  assert(to.lease.fencingToken !== undefined && to.lease.fencingToken > BigInt(handOff.fencingToken))
}

export const leaseHandOverLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('change', ['store', 'change'], {
    async 'a lease is handed off and adopted without being free in between'(trial, from) {
      const to = await trial.open({ owner: 'to' })
      const other = await trial.open({ owner: 'other' })
      const token = from.lease.fencingToken
      const handOff = await trial.during(from.storeLease.handOff({ owner: 'to' }))
      assert.equal(from.lease.checkLease(), false)
      assert.equal(await trial.during(other.acquire()), false)
      assert.equal(await trial.during(to.storeLease.adopt(handOff)), true)
      assert.equal(to.lease.checkLease(), true)
      assert(token !== undefined && to.lease.fencingToken !== undefined && to.lease.fencingToken > token)
      assert.equal(await trial.during(other.acquire()), false)
      assert.deepEqual(from.losses, [])
    },
    async 'a hand-off is adopted once'(trial, from) {
      const [one, other] = [await trial.open({ owner: 'to' }), await trial.open({ owner: 'to' })]
      const handOff = await trial.during(from.storeLease.handOff({ owner: 'to' }))
      const adopted = await trial.during(Promise.all([one.storeLease.adopt(handOff), other.storeLease.adopt(handOff)]))
      assert.equal(adopted.filter(Boolean).length, 1)
      assert.equal([one, other].filter(({ lease }) => lease.checkLease()).length, 1)
    },
    async 'an adopted lease is renewed'(trial, from) {
      const to = await trial.open({ owner: 'to' })
      await handOver(trial, from, to)
      await trial.pass(3 * trial.ttl)
      assert.equal(to.lease.checkLease(), true)
      assert.equal(await trial.during(from.acquire()), false)
    },
    async 'a hand-off expires if it is not adopted'(trial, from) {
      await trial.during(from.storeLease.handOff({ owner: 'absent' }))
      const other = await trial.openRefused()
      assert.equal(await trial.during(other.acquire({ wait: trial.takeover })), true)
    },
    async 'a hand-off whose answer is lost is settled'(trial, from) {
      const to = await trial.open({ owner: 'to' })
      from.store.inject({ kind: 'fail-after' }, 'change')
      await handOver(trial, from, to)
    },
    async 'an adoption whose answer is lost is repeated under the same token'(trial, from) {
      const to = await trial.open({ owner: 'to' })
      to.store.inject({ kind: 'fail-after' }, 'change')
      await handOver(trial, from, to)
      const record = await trial.outside.read(trial.name, new AbortableCall())
      assert.equal(record?.fencingToken, to.lease.fencingToken)
    },
    async 'an adopted lease has the ttl of its adopter, longer or shorter than before'(trial, from) {
      const longer = await trial.open({ owner: 'longer', ttl: 2 * trial.ttl })
      const shorter = await trial.open({ owner: 'shorter' })
      const other = await trial.open({ owner: 'other' })
      await pass(trial, from, longer)
      assert.equal(await trial.during(other.acquire()), false)
      await pass(trial, longer, shorter)
      assert.equal(await trial.during(other.acquire()), false)
      await trial.pass(1.5 * trial.ttl)
      assert.equal(shorter.lease.checkLease(), true)
      assert.deepEqual([...from.losses, ...longer.losses], [])
    },
    async 'an adopter with another ttl is not granted a lease that expired'(trial, from) {
      const to = await trial.open({ owner: 'to', ttl: 2 * trial.ttl })
      const handOff = await trial.during(from.storeLease.handOff({ owner: 'to' }))
      await trial.pass(1.1 * trial.ttl)
      const other = await trial.open({ owner: 'other' })
      assert.equal(await trial.during(other.acquire({ wait: trial.takeover })), true)
      assert.equal(await trial.during(to.storeLease.adopt(handOff)), false)
      assert.equal(other.lease.checkLease(), true)
    },
  }),
  ...heldLeaseLawsOf('change', ['store', 'change', 'wait'], {
    async 'an adopter with a longer ttl ends before another owner is granted the name'(trial, from) {
      const to = await trial.open({ owner: 'to', ttl: 2 * trial.ttl })
      await pass(trial, from, to)
      await endsBeforeTheNext(trial, to)
    },
    async 'an adopter whose longer ttl the store never saw ends before another owner is granted the name'(trial, from) {
      const to = await trial.open({ owner: 'to', ttl: 2 * trial.ttl })
      to.store.inject({ kind: 'answer-late', duration: trial.operationTimeout / 2 }, 'change')
      for (let count = 0; count < 3; count += 1) to.store.inject({ kind: 'fail-before' }, 'acquire')
      await handOver(trial, from, to)
      assert(to.storeLease.remaining < trial.ttl)
      await endsBeforeTheNext(trial, to)
    },
    async 'an adopter whose shorter ttl the store took without an answer ends before another owner is granted the name'(
      trial,
      from,
    ) {
      const longer = await trial.open({ owner: 'longer', ttl: 2 * trial.ttl })
      await pass(trial, from, longer)
      const to = await trial.open({ owner: 'to' })
      to.store.inject({ kind: 'fail-after' }, 'acquire')
      await handOver(trial, longer, to)
      assert(to.storeLease.remaining < trial.ttl)
      await endsBeforeTheNext(trial, to)
    },
  }),
  ...heldLeaseLawsOf('change', ['store', 'change', 'infinite', 'wait'], {
    async 'a lease is adopted without expiry, and with an expiry again'(trial, from) {
      const infinite = await trial.open({ owner: 'infinite', ttl: Number.POSITIVE_INFINITY })
      await pass(trial, from, infinite)
      assert.equal(infinite.storeLease.remaining, Number.POSITIVE_INFINITY)
      const finite = await trial.open({ owner: 'finite' })
      await pass(trial, infinite, finite)
      assert(finite.storeLease.remaining < trial.ttl)
      await endsBeforeTheNext(trial, finite)
    },
  }),
]
