import assert from 'node:assert/strict'
import {
  heldLeaseLawsOf,
  type LeaseLaw,
  type LeaseTrial,
  leaseLawsOf,
  openLeaseLawsOf,
  type TrialLease,
} from '../lease-trial.js'

const CONTENDERS = 30

async function contenders(trial: LeaseTrial): Promise<TrialLease[]> {
  return await Promise.all(Array.from({ length: CONTENDERS }, () => trial.open()))
}

export const leaseExclusionLaws: readonly LeaseLaw[] = [
  ...leaseLawsOf('exclusion', [], {
    async [`acquire returns true to exactly one of ${CONTENDERS} contenders`](trial) {
      const leases = await contenders(trial)
      const granted = await trial.during(Promise.all(leases.map((lease) => lease.acquire())))
      assert.equal(granted.filter(Boolean).length, 1)
      const holders = leases.filter(({ lease }) => lease.checkLease())
      assert.deepEqual(holders, [leases[granted.indexOf(true)]])
    },
    async [`${CONTENDERS} contenders in turn hold the lease one at a time`](trial) {
      const leases = await contenders(trial)
      for (const holder of leases) {
        assert.equal(await trial.during(holder.acquire()), true)
        const holders = leases.filter(({ lease }) => lease.checkLease())
        assert.deepEqual(holders, [holder])
        assert.equal(await trial.during(holder.lease.release()), true)
      }
    },
    async 'acquire returns false while another holds the lease'(trial) {
      await trial.openHeld()
      const other = await trial.openRefused()
      assert.equal(other.lease.checkLease(), false)
      assert.equal(other.lease.fencingToken, undefined)
    },
    async 'before the first acquire nothing is held'(trial) {
      const { lease } = await trial.open()
      assert.equal(lease.checkLease(), false)
      assert.equal(lease.fencingToken, undefined)
    },
    async 'leases on two names are held at the same time'(trial) {
      const one = await trial.openHeld()
      const other = await trial.openHeld({ name: `${trial.name}-2` })
      assert(one.lease.checkLease() && other.lease.checkLease())
    },
  }),
  ...leaseLawsOf('names', ['any-name'], {
    async 'names that differ in case, script or length are different leases'(trial) {
      for (const suffix of ['-a', '-A', '-é', '-e\u0301', '-租約', '-a ', '/a', '-'.padEnd(400, 'x')]) {
        await trial.openHeld({ name: `${trial.name}${suffix}` })
      }
    },
  }),
  ...heldLeaseLawsOf('re-entrancy', [], {
    async 'acquire of a held lease returns true and changes nothing'(trial, { lease }) {
      const token = lease.fencingToken
      assert.equal(await trial.during(lease.acquire()), true)
      assert.equal(lease.fencingToken, token)
      assert.equal(await trial.during(lease.release()), true)
      assert.equal(lease.checkLease(), false)
    },
    async 'concurrent calls share one attempt: all return false'(trial) {
      const { lease } = await trial.open()
      const calls = Promise.all([lease.acquire(), lease.acquire(), lease.acquire()])
      assert.deepEqual(await trial.during(calls), [false, false, false])
    },
    async 'acquire during a release waits for the release, then holds the lease'(trial, { lease }) {
      const [released, acquired] = await trial.during(Promise.all([lease.release(), lease.acquire()]))
      assert.deepEqual([released, acquired, lease.checkLease()], [true, true, true])
    },
  }),
  ...openLeaseLawsOf('re-entrancy', [], {
    async 'concurrent calls share one attempt: all return true'(trial, { lease }) {
      const calls = Promise.all([lease.acquire(), lease.acquire(), lease.acquire()])
      assert.deepEqual(await trial.during(calls), [true, true, true])
    },
    async 'one release ends the grant of several calls'(trial, { lease }) {
      await trial.during(Promise.all([lease.acquire(), lease.acquire()]))
      await trial.during(lease.release())
      await trial.openHeld()
    },
    async 'a lease can be acquired and released many times'(trial, { lease }) {
      for (let round = 0; round < 10; round += 1) {
        assert.equal(await trial.during(lease.acquire()), true)
        assert.equal(lease.checkLease(), true)
        assert.equal(await trial.during(lease.release()), true)
        assert.equal(lease.checkLease(), false)
      }
    },
  }),
  ...leaseLawsOf('fencing', ['tokens'], {
    async 'each grant has a larger token than all earlier grants'(trial) {
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
  }),
  ...heldLeaseLawsOf('re-entrancy', ['store'], {
    async 'acquire of a held lease does not call the store'(_trial, held) {
      await held.cutOff()
      assert.equal(await held.lease.acquire(), true)
    },
  }),
]
