import assert from 'node:assert/strict'
import type { LeaseRecord, LeaseStore } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'
import { changed } from './change.js'

/** A little more than the largest step of a store's clock, a second: two grants this far apart have different times. */
const STEP = 1_100

/** By how much the clock of a store and that of this machine may differ, in milliseconds. */
const SKEW = 60_000

/** Lets the time of the store advance by a step, in which the grant does not end. */
async function passStep(trial: StoreTrial): Promise<void> {
  await trial.pass(Math.min(STEP, trial.ttl * 0.6))
}

async function recordIn(trial: StoreTrial, client: LeaseStore): Promise<LeaseRecord> {
  const record = await trial.read(client)
  assert(record !== undefined, 'the name has no record after a grant')
  return record
}

/** The time of a new grant as its record has it, and the times of this machine before and after the request. */
async function timed(trial: StoreTrial, client: LeaseStore) {
  const before = trial.clock.wall?.() ?? Number.NaN
  const grant = await trial.granted(client)
  const after = trial.clock.wall?.() ?? Number.NaN
  const { grantedAt } = await recordIn(trial, client)
  return { grant, grantedAt, before, after }
}

/** A store may leave out the time of a grant and the renewals: the laws check the values that are present. */
export const storeHistoryLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('history', [], {
    async 'the time of a grant stays the same when it is renewed, and the next grant has a later one'(
      trial,
      grant,
      client,
    ) {
      const { grantedAt } = await recordIn(trial, client)
      await passStep(trial)
      await client.renew(grant, trial.call)
      assert.equal((await recordIn(trial, client)).grantedAt, grantedAt, 'a renewal changed the time of the grant')
      await client.release(grant, trial.call)
      await trial.granted(client)
      const next = (await recordIn(trial, client)).grantedAt
      assert.equal(next === undefined, grantedAt === undefined, 'only some of the grants have a time')
      if (next === undefined || grantedAt === undefined) return
      assert(next > grantedAt, `granted at ${next}, but the grant before at ${grantedAt}`)
    },
    async 'renewals are counted from 0, and the next grant begins with 0'(trial, grant, client) {
      const counts = [await recordIn(trial, client)]
      for (let count = 0; count < 2; count += 1) {
        assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
        counts.push(await recordIn(trial, client))
      }
      await client.release(grant, trial.call)
      await trial.granted(client)
      counts.push(await recordIn(trial, client))
      const renewals = counts.map((record) => record.renewals)
      if (renewals.every((count) => count === undefined)) return
      assert.deepEqual(renewals, [0, 1, 2, 0])
    },
    async 'a renewal that is refused is not counted'(trial, grant, client) {
      const { renewals } = await recordIn(trial, client)
      await client.renew({ ...grant, grantId: trial.guid('forged') }, trial.call)
      assert.equal((await recordIn(trial, client)).renewals, renewals)
    },
  }),
  ...grantedStoreLawsOf('history', ['metadata'], {
    async 'an update counts as a renewal, and does not change the time of the grant'(trial, grant, client) {
      const first = await recordIn(trial, client)
      await passStep(trial)
      assert.deepEqual(await client.update?.(grant, { part: '2' }, trial.call), { renewed: true })
      const { grantedAt, renewals } = await recordIn(trial, client)
      assert.equal(grantedAt, first.grantedAt)
      assert.equal(renewals, first.renewals === undefined ? undefined : first.renewals + 1)
    },
  }),
  ...grantedStoreLawsOf('history', ['change'], {
    async 'a lease that is passed on has the time of its change, and no renewals'(trial, grant, client) {
      const first = await recordIn(trial, client)
      await passStep(trial)
      await client.renew(grant, trial.call)
      await changed(trial, client, grant)
      const { grantedAt, renewals } = await recordIn(trial, client)
      assert.equal(renewals, first.renewals === undefined ? undefined : 0)
      if (grantedAt === undefined || first.grantedAt === undefined) return
      assert(grantedAt > first.grantedAt, `granted at ${grantedAt}, but the grant before at ${first.grantedAt}`)
    },
  }),
  ...storeLawsOf('history', ['server-time'], {
    async 'the time of a grant lies between its request and the answer'(trial, client) {
      const first = await timed(trial, client)
      await passStep(trial)
      await client.release(first.grant, trial.call)
      const second = await timed(trial, client)
      if (first.grantedAt === undefined || second.grantedAt === undefined || Number.isNaN(first.before)) return
      const ahead = Math.abs(second.grantedAt - second.after)
      assert(ahead < SKEW, `granted at ${second.grantedAt}, but the clock of this machine says ${second.after}`)
      // Between two grants, both clocks count the same time, whatever their difference.
      const between = second.grantedAt - first.grantedAt
      const [least, most] = [second.before - first.after - STEP, second.after - first.before + STEP]
      assert(least <= between && between <= most, `${between} ms between grants, not ${least} to ${most}`)
    },
  }),
]
