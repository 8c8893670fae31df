import assert from 'node:assert/strict'
import { LeaseConflictError, LeaseHeldError, LeaseLostError } from '@leasehold/core'
import { type LeaseLaw, leaseLawsOf, openLeaseLawsOf } from '../lease-trial.js'

/** Work that lasts until the law ends it. */
function pendingWork(): {
  work: (held: { signal: AbortSignal }) => Promise<void>
  started: AbortSignal[]
  end: () => void
} {
  const started: AbortSignal[] = []
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = ({ signal }: { signal: AbortSignal }): Promise<void> => {
    started.push(signal)
    return ended
  }
  return { work, started, end }
}

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
      const first = pendingWork()
      const firstRun = lease.run(first.work)
      const error = await trial.during(lease.run(first.work).catch((reason: unknown) => reason))
      assert(error instanceof LeaseHeldError)
      assert.equal(error.holder, lease.settings.owner)
      first.end()
      await trial.during(firstRun)
      assert.equal(first.started.length, 1)
    },
    async 'a run inside its own work rejects instead of waiting for itself'(trial, { lease }) {
      const run = lease.run(async () => {
        await assert.rejects(
          lease.run(async () => {}, waitForTurn),
          LeaseConflictError,
        )
      })
      await trial.during(run)
    },
    async 'a release during a run aborts its work, and another owner may hold the name'(trial, { lease }) {
      const { work, started } = pendingWork()
      const run = lease.run(work).catch((reason: unknown) => reason)
      while (started.length === 0) await trial.pass(trial.interval / 10)
      assert.equal(await trial.during(lease.release()), true)
      const error = await trial.during(run)
      assert(error instanceof LeaseLostError)
      assert.equal(error.reason, 'released')
      assert.equal(started[0]?.aborted, true)
      await trial.openHeld()
    },
    async 'a run that ended does not free a later grant of its object'(trial, { lease }) {
      const { work, started } = pendingWork()
      const run = lease.run(work).catch(() => {})
      while (started.length === 0) await trial.pass(trial.interval / 10)
      const released = lease.release()
      const acquired = lease.acquire(waitForTurn)
      await trial.during(Promise.all([run, released]))
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
      assert.deepEqual(
        signals.map(({ aborted }) => aborted),
        [false, false],
      )
    },
  }),
  ...leaseLawsOf('runs', [], {
    async 'a run under an acquire of the same object leaves the lease held'(trial) {
      const { lease } = await trial.openHeld()
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
        const error = await trial.during(other.lease.run(async () => {}, { wait }).catch((reason: unknown) => reason))
        assert(error instanceof LeaseHeldError)
        assert.equal(error.holder, 'holder')
        assert.equal(error.owner, 'other')
      }
    },
  }),
]
