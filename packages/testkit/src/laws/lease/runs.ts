import assert from 'node:assert/strict'
import { LeaseConflictError } from '@leasehold/core'
import { handled } from '../handled.js'
import { heldLeaseLawsOf, type LeaseLaw, leaseLawsOf, openLeaseLawsOf } from '../lease-trial.js'
import { PendingWork } from '../pending-work.js'

const pendingWork = () => new PendingWork<{ readonly signal: AbortSignal }>()

const waitForTurn = { wait: Number.POSITIVE_INFINITY }

export const leaseRunLaws: readonly LeaseLaw[] = [
  ...openLeaseLawsOf('runs', [], {
    async 'runs of one lease object do not overlap, and each releases its own grant only'(trial, { lease }) {
      let inProgress = 0
      const tokens = new Set<bigint | undefined>()
      let runs = 0
      const work = async ({ fencingToken }: { fencingToken: bigint | undefined }): Promise<void> => {
        runs += 1
        inProgress += 1
        assert.equal(inProgress, 1)
        assert(fencingToken === undefined || [...tokens].every((token) => token !== undefined && token < fencingToken))
        tokens.add(fencingToken)
        await trial.pass(trial.interval / 10)
        assert.equal(lease.checkLease(), true)
        inProgress -= 1
      }
      await trial.during(Promise.all([1, 2, 3].map(() => lease.run(work, waitForTurn))))
      assert.equal(runs, 3)
      assert.equal(lease.checkLease(), false)
    },
    async 'a run without wait rejects during another run, and names its own owner'(trial, { lease }) {
      const { run, begun, calls } = pendingWork()
      const firstRun = handled(lease.run(run))
      const holder = lease.settings.owner
      await assert.rejects(trial.during(lease.run(run)), { name: 'LeaseHeldError', holder })
      const { end } = await trial.during(begun)
      end()
      await trial.during(firstRun)
      assert.equal(calls.length, 1)
    },
    async 'a run inside its own work rejects instead of waiting for itself'(trial, { lease }) {
      const run = lease.run(async () => {
        const inner = lease.run(async () => {}, waitForTurn)
        await assert.rejects(inner, LeaseConflictError)
      })
      await trial.during(run)
    },
    async 'a release during a run aborts its work, and another owner may hold the name'(trial, { lease }) {
      const { run, begun } = pendingWork()
      const lost = { name: 'LeaseLostError', reason: 'released' }
      const rejected = handled(assert.rejects(lease.run(run), lost))
      const { signal } = (await trial.during(begun)).held
      assert.equal(await trial.during(lease.release()), true)
      await trial.during(rejected)
      assert.equal(signal.aborted, true)
      await trial.openHeld()
    },
    async 'a run that ended does not free a later grant of its object'(trial, { lease }) {
      const { run, begun } = pendingWork()
      const ended = lease.run(run).catch(() => {})
      await trial.during(begun)
      const released = lease.release()
      const acquired = handled(lease.acquire(waitForTurn))
      await trial.during(Promise.all([ended, released]))
      assert.equal(await trial.during(acquired), true)
      await trial.pass(trial.interval)
      assert.equal(lease.checkLease(), true)
      await trial.openRefused()
    },
    async 'each grant has a signal of its own, which a release does not abort'(trial, { lease }) {
      assert.equal(lease.signal.aborted, true)
      const signals: AbortSignal[] = []
      for (let grant = 0; grant < 2; grant += 1) {
        assert.equal(await trial.during(lease.acquire()), true)
        signals.push(lease.signal)
        assert.equal(lease.signal, signals[grant])
        await trial.during(lease.release())
        assert.equal(lease.signal.aborted, true)
      }
      assert.notEqual(signals[0], signals[1])
      assert(signals.every(({ aborted }) => !aborted))
    },
  }),
  ...heldLeaseLawsOf('runs', [], {
    async 'a run under an acquire of the same object leaves the lease held'(trial, { lease }) {
      const { fencingToken } = lease
      assert.equal(await trial.during(lease.run(async (held) => held.fencingToken)), fencingToken)
      assert.equal(lease.checkLease(), true)
      assert.equal(lease.fencingToken, fencingToken)
    },
  }),
  ...leaseLawsOf('runs', ['store'], {
    async 'a run while another owner holds the name rejects and names that owner'(trial) {
      await trial.openHeld({ owner: 'holder' })
      const other = await trial.open({ owner: 'other' })
      for (const wait of [0, trial.interval]) {
        const run = trial.during(other.lease.run(async () => {}, { wait }))
        await assert.rejects(run, { name: 'LeaseHeldError', holder: 'holder', owner: 'other' })
      }
    },
  }),
]
