import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, vi } from 'vitest'

const TICK = 2_000
const SKEW = 30_000

class Instance {
  readonly runs: number[] = []
  readonly missed: number[] = []
  isStarted = false
  readonly #process: ChildProcess

  constructor(test: Finishing, folder: string, skew: number) {
    const program = new URL('programs/instance.ts', import.meta.url)
    const execArgv = ['--import', 'tsx', '--conditions', '@leasehold/source']
    this.#process = fork(program, [String(skew), folder], { execArgv, timeout: 100_000, killSignal: 'SIGKILL' })
    this.#process.on('message', ({ event, at }: { event: string; at: number }) => {
      if (event === 'runs') this.runs.push(at)
      if (event === 'missed') this.missed.push(at)
      if (event === 'started') this.isStarted = true
    })
    test.onTestFinished(() => this.kill())
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}

describe('two processes with clocks 30 s apart', { timeout: 110_000 }, () => {
  it('run each tick once, also after the one that is ahead was killed', async (test) => {
    const folder = temporaryFolder(test)
    const [ahead, behind] = [new Instance(test, folder, SKEW), new Instance(test, folder, 0)]
    await vi.waitFor(() => expect(ahead.runs.length).toBeGreaterThanOrEqual(4), 40_000)
    await vi.waitFor(() => expect(behind.isStarted).toBe(true), 40_000)
    await ahead.kill()
    const [first = 0, lastAhead = 0] = [ahead.runs[0], ahead.runs.at(-1)]
    // The clock of the other one reaches the ticks that were run 30 s later, and then the next ones.
    await vi.waitFor(
      () => expect(behind.runs.filter((tick) => tick > lastAhead).length).toBeGreaterThanOrEqual(3),
      60_000,
    )
    await behind.kill()
    const runs = [...ahead.runs, ...behind.runs].toSorted((one, other) => one - other)
    expect(new Set(runs).size).toBe(runs.length)
    expect(behind.runs.filter((tick) => tick >= first && tick <= lastAhead)).toEqual([])
    // From the first tick of the clock that is ahead on, none is left out, except where node-cron was too late.
    const last = runs.at(-1) ?? 0
    const missed = new Set([...ahead.missed, ...behind.missed])
    for (let tick = first; tick <= last; tick += TICK) {
      if (!missed.has(tick)) expect(runs).toContain(tick)
    }
  })
})
