import assert from 'node:assert/strict'
import { LeaseConflictError, LeaseHeldError, LeaseLostError } from '@leasehold/core'
import { type LeaseLaw, leaseLawsOf } from '../lease-trial.js'

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

export const leaseRunLaws: readonly LeaseLaw[] = leaseLawsOf('runs', ['store'], {
  async 'runs of one lease object do not overlap, and each releases its own grant only'(trial) {
    const { storeLease } = await trial.open()
    let inProgress = 0
    const tokens: bigint[] = []
    const work = async ({ fencingToken }: { fencingToken: bigint }): Promise<void> => {
      inProgress += 1
      assert.equal(inProgress, 1)
      tokens.push(fencingToken)
      await trial.pass(trial.interval / 10)
      assert.equal(storeLease.checkLease(), true)
      inProgress -= 1
    }
    await trial.during(Promise.all([1, 2, 3].map(() => storeLease.run(work, waitForTurn))))
    assert.deepEqual(
      tokens,
      [...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)),
    )
    assert.equal(tokens.length, 3)
    assert.equal(storeLease.checkLease(), false)
  },
  async 'a run without wait rejects during another run, and names its own owner'(trial) {
    const { storeLease } = await trial.open()
    const first = pendingWork()
    const firstRun = storeLease.run(first.work)
    const error = await trial.during(storeLease.run(first.work).catch((reason: unknown) => reason))
    assert(error instanceof LeaseHeldError)
    assert.equal(error.holder, storeLease.settings.owner)
    first.end()
    await trial.during(firstRun)
    assert.equal(first.started.length, 1)
  },
  async 'a run inside its own work rejects instead of waiting for itself'(trial) {
    const { storeLease } = await trial.open()
    const run = storeLease.run(async () => {
      await assert.rejects(
        storeLease.run(async () => {}, waitForTurn),
        LeaseConflictError,
      )
    })
    await trial.during(run)
  },
  async 'a run under an acquire of the same object leaves the lease held'(trial) {
    const { storeLease } = await trial.openHeld()
    const { fencingToken } = storeLease
    assert.equal(await trial.during(storeLease.run(async (held) => held.fencingToken)), fencingToken)
    assert.equal(storeLease.checkLease(), true)
    assert.equal(storeLease.fencingToken, fencingToken)
  },
  async 'a release during a run aborts its work, and another owner may hold the name'(trial) {
    const { storeLease } = await trial.open()
    const { work, started } = pendingWork()
    const run = storeLease.run(work).catch((reason: unknown) => reason)
    while (started.length === 0) await trial.pass(trial.interval / 10)
    assert.equal(await trial.during(storeLease.release()), true)
    const error = await trial.during(run)
    assert(error instanceof LeaseLostError)
    assert.equal(error.reason, 'released')
    assert.equal(started[0]?.aborted, true)
    await trial.openHeld()
  },
  async 'a run that ended does not free a later grant of its object'(trial) {
    const { storeLease } = await trial.open()
    const { work, started } = pendingWork()
    const run = storeLease.run(work).catch(() => {})
    while (started.length === 0) await trial.pass(trial.interval / 10)
    const released = storeLease.release()
    const acquired = storeLease.acquire(waitForTurn)
    await trial.during(Promise.all([run, released]))
    assert.equal(await trial.during(acquired), true)
    await trial.pass(trial.interval)
    assert.equal(storeLease.checkLease(), true)
    await trial.openRefused()
  },
})
