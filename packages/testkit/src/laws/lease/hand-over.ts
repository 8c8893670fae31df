import assert from 'node:assert/strict'
import { AbortableCall } from '@leasehold/core/store'
import { heldLeaseLawsOf, type LeaseLaw } from '../lease-trial.js'

export const leaseHandOverLaws: readonly LeaseLaw[] = heldLeaseLawsOf('change', ['store', 'change'], {
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
    await trial.during(to.storeLease.adopt(await trial.during(from.storeLease.handOff({ owner: 'to' }))))
    await trial.pass(3 * trial.ttl)
    assert.equal(to.lease.checkLease(), true)
    assert.equal(await trial.during(from.acquire()), false)
  },
  async 'a hand-off expires if it is not adopted'(trial, from) {
    await trial.during(from.storeLease.handOff({ owner: 'absent' }))
    const other = await trial.openRefused()
    assert.equal(await trial.during(other.acquire({ wait: 3 * trial.ttl })), true)
  },
  async 'a hand-off whose answer is lost is settled'(trial, from) {
    const to = await trial.open({ owner: 'to' })
    from.store.inject({ kind: 'fail-after' }, 'change')
    const handOff = await trial.during(from.storeLease.handOff({ owner: 'to' }))
    assert.equal(await trial.during(to.storeLease.adopt(handOff)), true)
  },
  async 'an adoption whose answer is lost is repeated under the same token'(trial, from) {
    const to = await trial.open({ owner: 'to' })
    const handOff = await trial.during(from.storeLease.handOff({ owner: 'to' }))
    to.store.inject({ kind: 'fail-after' }, 'change')
    assert.equal(await trial.during(to.storeLease.adopt(handOff)), true)
    const record = await trial.outside.read(trial.name, new AbortableCall())
    assert.equal(record?.fencingToken, to.lease.fencingToken)
  },
})
