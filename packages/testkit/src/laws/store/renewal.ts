import assert from 'node:assert/strict'
import type { Grant, LeaseStore } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

/**
 * A duplicate of the claim that the network delivers now is granted under the same grant id. Another owner may have held the
 * name in between: so the holder of the earlier grant learns that it is over, and can free the name. `by`: the client whose
 * duplicate it is, which may be that of an earlier process.
 */
export async function stayedOver(trial: StoreTrial, grant: Grant, one: LeaseStore, by: LeaseStore): Promise<void> {
  const { owner, grantId } = grant
  const late = await trial.granted(by, { owner, grantId })
  assert(late.fencingToken > grant.fencingToken)
  const isOver = { renewed: false, reason: 'expired', left: true }
  assert.deepEqual(await one.renew(grant, trial.call), isOver)
  assert.deepEqual((await one.renewMany?.([grant], trial.call)) ?? [isOver], [isOver])
  assert.deepEqual(await by.renew(late, trial.call), { renewed: true })
  await trial.refused(by)
  assert.deepEqual(await one.release(grant, trial.call), { released: true })
  await trial.granted(by)
}

export const storeRenewalLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('renewal', [], {
    async 'the grant in force is renewed and does not change'(trial, grant, client) {
      assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
      const record = await trial.read(client)
      assert.equal(record?.fencingToken, grant.fencingToken)
      assert.equal(record.grantId, grant.grantId)
    },
    async 'a heartbeat that arrives twice renews the grant'(trial, grant, client) {
      const outcomes = await Promise.all([client.renew(grant, trial.call), client.renew(grant, trial.call)])
      assert.deepEqual(outcomes, [{ renewed: true }, { renewed: true }])
    },
    async 'a grant with a successor is refused, as taken, with the holder'(trial, grant, one, other) {
      await trial.expire(other)
      const successor = await trial.granted(other, { owner: 'successor' })
      const outcome = await one.renew(grant, trial.call)
      assert(!outcome.renewed, 'renewed, although another owner holds the name')
      assert.equal(outcome.reason, 'taken')
      assert.equal(outcome.holder?.owner, 'successor')
      assert.deepEqual(await other.renew(successor, trial.call), { renewed: true })
    },
    async 'a grant that expired does not come back with a late duplicate of its claim'(trial, grant, one, other) {
      await trial.expire(other)
      await stayedOver(trial, grant, one, other)
    },
    async 'a grant that was released is not renewed'(trial, grant, client) {
      await client.release(grant, trial.call)
      assert.equal((await client.renew(grant, trial.call)).renewed, false)
      await trial.granted(client)
    },
    async 'the same owner and token under another grant id is not renewed'(trial, grant, client) {
      const outcome = await client.renew({ ...grant, grantId: trial.guid('forged') }, trial.call)
      assert(!outcome.renewed)
      assert.equal(outcome.reason, 'taken')
    },
  }),
  ...storeLawsOf('renewal', [], {
    async 'a grant id that was never granted is not renewed, and creates no record'(trial, client) {
      const { name, ttl } = trial
      const grant = { name, owner: 'absent', grantId: trial.guid('unknown'), fencingToken: 1n, ttl }
      assert.equal((await client.renew(grant, trial.call)).renewed, false)
      assert.equal(await trial.read(client), undefined)
    },
  }),
  ...grantedStoreLawsOf('renewal', ['deletion'], {
    async 'a grant whose record was deleted is not renewed, and not restored'(trial, grant, client) {
      await trial.delete()
      const outcome = await client.renew(grant, trial.call)
      assert(!outcome.renewed)
      assert.equal(outcome.reason, 'deleted')
      await trial.granted(client)
    },
  }),
  ...storeLawsOf('renewal', ['renewMany'], {
    async 'renewMany answers many grants in their order'(trial, client) {
      const held = await Promise.all(
        Array.from({ length: 20 }, (_, place) => trial.granted(client, { name: `${trial.name}-${place}` })),
      )
      for (const [place, grant] of held.entries()) if (place % 3 === 0) await client.release(grant, trial.call)
      const outcomes = await client.renewMany?.(held, trial.call)
      assert.deepEqual(
        outcomes?.map((outcome) => 'renewed' in outcome && outcome.renewed),
        held.map((_, place) => place % 3 !== 0),
      )
    },
    async 'renewMany accepts an empty list'(trial, client) {
      assert.deepEqual(await client.renewMany?.([], trial.call), [])
    },
  }),
  ...grantedStoreLawsOf('renewal', ['restart'], {
    async 'a grant survives a restart of the backend'(trial, grant, one, other) {
      await trial.backend.restart?.()
      await trial.refused(other)
      assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
    },
  }),
]
