import assert from 'node:assert/strict'
import { law, lawFor } from '../law.js'
import type { LeaseLaw, LeaseTrial, TrialLease } from '../lease-trial.js'

const CONTENDERS = 30

async function contenders(trial: LeaseTrial): Promise<TrialLease[]> {
  return await Promise.all(Array.from({ length: CONTENDERS }, () => trial.open()))
}

export const leaseExclusionLaws: readonly LeaseLaw[] = [
  law('exclusion', `of ${CONTENDERS} contenders exactly one is told true, and all others false`, async (trial) => {
    const leases = await contenders(trial)
    const granted = await trial.during(Promise.all(leases.map((lease) => lease.acquire())))
    assert.equal(granted.filter(Boolean).length, 1)
    const holders = leases.filter(({ lease }) => lease.checkLease())
    assert.deepEqual(holders, [leases[granted.indexOf(true)]])
  }),
  law('exclusion', `handed round among ${CONTENDERS}, one at a time holds it`, async (trial) => {
    const leases = await contenders(trial)
    for (const holder of leases) {
      assert.equal(await trial.during(holder.acquire()), true)
      assert.deepEqual(
        leases.filter(({ lease }) => lease.checkLease()),
        [holder],
      )
      assert.equal(await trial.during(holder.lease.release()), true)
    }
  }),
  law('exclusion', 'who is refused is told false, and does not hold it', async (trial) => {
    await trial.openHeld()
    const other = await trial.open()
    assert.equal(await trial.during(other.acquire()), false)
    assert.equal(other.lease.checkLease(), false)
    assert.equal(other.lease.fencingToken, undefined)
  }),
  law('exclusion', 'before the first acquire nothing is held', async (trial) => {
    const { lease } = await trial.open()
    assert.equal(lease.checkLease(), false)
    assert.equal(lease.fencingToken, undefined)
  }),
  law('exclusion', 'leases on two names are held side by side', async (trial) => {
    const one = await trial.openHeld()
    const other = await trial.openHeld({ name: `${trial.name}-2` })
    assert(one.lease.checkLease() && other.lease.checkLease())
  }),
  lawFor(['any-name'], 'names', 'names that differ in case, script or length are different leases', async (trial) => {
    for (const suffix of ['-a', '-A', '-é', '-e\u0301', '-租約', '-a ', '/a', '-'.padEnd(400, 'x')]) {
      await trial.openHeld({ name: `${trial.name}${suffix}` })
    }
  }),
  law('re-entrancy', 'to acquire what is held is true, and changes nothing', async (trial) => {
    const { lease } = await trial.openHeld()
    const token = lease.fencingToken
    assert.equal(await trial.during(lease.acquire()), true)
    assert.equal(lease.fencingToken, token)
    assert.equal(await trial.during(lease.release()), true)
    assert.equal(lease.checkLease(), false)
  }),
  law('re-entrancy', 'concurrent calls share one attempt: all are told true', async (trial) => {
    const { lease } = await trial.open()
    const calls = Promise.all([lease.acquire(), lease.acquire(), lease.acquire()])
    assert.deepEqual(await trial.during(calls), [true, true, true])
  }),
  law('re-entrancy', 'concurrent calls share one attempt: all are told false', async (trial) => {
    await trial.openHeld()
    const { lease } = await trial.open()
    const calls = Promise.all([lease.acquire(), lease.acquire(), lease.acquire()])
    assert.deepEqual(await trial.during(calls), [false, false, false])
  }),
  law('re-entrancy', 'one release ends what several calls were granted', async (trial) => {
    const { lease } = await trial.open()
    await trial.during(Promise.all([lease.acquire(), lease.acquire()]))
    await trial.during(lease.release())
    const other = await trial.open()
    assert.equal(await trial.during(other.acquire()), true)
  }),
  law('re-entrancy', 'to acquire during a release waits for it, and holds the lease then', async (trial) => {
    const { lease } = await trial.openHeld()
    const [released, acquired] = await trial.during(Promise.all([lease.release(), lease.acquire()]))
    assert.deepEqual([released, acquired, lease.checkLease()], [true, true, true])
  }),
  law('re-entrancy', 'acquired and released again and again it is as new each time', async (trial) => {
    const { lease } = await trial.open()
    for (let round = 0; round < 10; round += 1) {
      assert.equal(await trial.during(lease.acquire()), true)
      assert.equal(lease.checkLease(), true)
      assert.equal(await trial.during(lease.release()), true)
      assert.equal(lease.checkLease(), false)
    }
  }),
  lawFor(
    ['tokens'],
    'fencing',
    'each grant has a larger token than all before, whoever is granted it',
    async (trial) => {
      const leases = [await trial.open(), await trial.open(), await trial.open()]
      let last: bigint | undefined
      for (let round = 0; round < 3; round += 1) {
        for (const { lease } of leases) {
          await trial.during(lease.acquire())
          const token = lease.fencingToken
          assert(token !== undefined && (last === undefined || token > last), `${token} after ${last}`)
          last = token
          await trial.during(lease.release())
          assert.equal(lease.fencingToken, undefined)
        }
      }
    },
  ),
  lawFor(['store'], 're-entrancy', 'to acquire what is held does not ask the store', async (trial) => {
    const held = await trial.openHeld()
    await held.cutOff()
    assert.equal(await held.lease.acquire(), true)
  }),
]
