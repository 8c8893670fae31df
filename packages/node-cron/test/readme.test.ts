import { setImmediate as turn } from 'node:timers/promises'
import { MemoryLeaseStore } from '@leasehold/core'
import cron, { type ScheduledTask } from 'node-cron'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { reportFenced } from './readme/fenced-report.js'
import { reportNightly } from './readme/report.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.UTC(2026, 0, 1, 1, 59, 58) })
})

afterEach(() => {
  cron.setRunCoordinator(undefined)
  vi.useRealTimers()
})

async function untilAfterThree(task: ScheduledTask): Promise<void> {
  onTestFinished(async () => void (await task.destroy()))
  for (let step = 0; step < 30; step += 1) {
    await vi.advanceTimersByTimeAsync(100)
    await turn()
  }
}

it('the example writes a report at three in Berlin', async () => {
  const dates: Date[] = []
  await untilAfterThree(reportNightly(new MemoryLeaseStore(), async (due) => void dates.push(due)))
  expect(dates).toEqual([new Date('2026-01-01T02:00:00Z')])
})

it('the fenced example hands on a signal and a fencing token', async () => {
  const given: unknown[] = []
  const write = async (signal: AbortSignal | undefined, token: bigint | undefined): Promise<void> => {
    given.push(signal?.aborted, token)
  }
  await untilAfterThree(reportFenced(new MemoryLeaseStore(), write, () => {}))
  expect(given).toEqual([false, expect.any(BigInt)])
})
