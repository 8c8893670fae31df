import { existsSync } from 'node:fs'
import { LeaseLostError } from '@leasehold/core'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { CommandRun, type CommandSurroundings } from '../src/run/command-run.js'
import type { WatchedCommand } from '../src/run/watchdog-message.js'

const TTL = 60_000

/** A grant, and a command under it, which would leave a file. `arming`: called when the watchdog watches. */
function scene(arming: () => void = () => {}, ...command: string[]) {
  const file = `${temporaryFolder()}/started`
  const clock = new VirtualClock()
  const lost = new AbortController()
  const held = { signal: lost.signal, fencingToken: 7n, validUntil: clock.now() + TTL, checkLease: () => true }
  const stop = new AbortController()
  const directed: unknown[] = []
  const disarmed: unknown[] = []
  const killTimes: (number | undefined)[] = []
  const around = {
    name: 'x',
    owner: 'me',
    command: command.length > 0 ? command : ['touch', file],
    env: { PATH: process.env.PATH, FILE: file },
    times: { killAfter: 1_000, margin: 500 },
    hold: { longest: Number.POSITIVE_INFINITY, operationTimeout: 1_000 },
    clock,
    watchdog: {
      pid: undefined,
      arm: async () => arming(),
      update: (changed: Partial<WatchedCommand>) => {
        if (changed.plan !== undefined) killTimes.push(changed.plan.killAt?.monotonic)
      },
      disarm: () => void disarmed.push('disarmed'),
    } as Partial<CommandSurroundings['watchdog']> as CommandSurroundings['watchdog'],
    notices: { say: () => {} } as Partial<CommandSurroundings['notices']> as CommandSurroundings['notices'],
    signals: {
      stop: stop.signal,
      direct: (target: unknown) => void directed.push(target),
    } as Partial<CommandSurroundings['signals']> as CommandSurroundings['signals'],
  }
  const isStarted = (): boolean => existsSync(file)
  const run = new CommandRun(held, around)
  return { clock, held, lost, around, run, stop, directed, disarmed, killTimes, isStarted, file }
}

it('gets the signals from its start to its end', async () => {
  const { run, directed, disarmed, isStarted } = scene()
  expect(await run.run({})).toEqual({ type: 'exited', code: 0 })
  expect(isStarted()).toBe(true)
  expect(directed).toEqual([run, undefined])
  expect(disarmed).toEqual(['disarmed'])
})

it('is not started after a signal that came before its start', async () => {
  const found = scene(() => found.stop.abort())
  await expect(found.run.run({})).rejects.toBe(found.stop.signal.reason)
  expect(found.isStarted()).toBe(false)
  expect(found.directed).toEqual([undefined])
  expect(found.disarmed).toEqual(['disarmed'])
})

it('is not started, and nothing is watched any more, if the watchdog cannot be armed', async () => {
  const failure = new Error('no process is left')
  const { run, disarmed, isStarted } = scene(() => {
    throw failure
  })
  await expect(run.run({})).rejects.toBe(failure)
  expect(isStarted()).toBe(false)
  expect(disarmed).toEqual(['disarmed'])
})

it('that the system refuses at once is one that cannot be started', async () => {
  const { held, around } = scene()
  const tooLong = new CommandRun(held, { ...around, command: ['true', 'x'.repeat(8_000_000)] })
  expect(await tooLong.run({})).toMatchObject({ type: 'unstartable', program: 'true', error: { code: 'E2BIG' } })
})

describe('the validity', () => {
  /** Ends with 0 at SIGTERM. */
  const obedient = ['sh', '-c', 'trap "exit 0" TERM; touch "$FILE"; while :; do sleep 0.05; done']
  /** The same, and it leaves a second file. */
  const noting = ['sh', '-c', 'trap "touch $FILE.ended; exit 0" TERM; touch "$FILE"; while :; do sleep 0.05; done']
  const loss = (lockedUntil?: number) => new LeaseLostError('lost', { reason: 'broken', lockedUntil })

  it('that was lost, or is over, starts no command', async () => {
    const found = scene()
    found.lost.abort(loss())
    expect(await found.run.run({})).toEqual({ type: 'lost', reason: 'broken' })
    const meanwhile = scene(() => meanwhile.lost.abort(loss(Number.POSITIVE_INFINITY)))
    expect(await meanwhile.run.run({})).toEqual({ type: 'lost', reason: 'broken' })
    const late = scene(() => {
      late.held.validUntil = 0
    })
    expect(await late.run.run({})).toEqual({ type: 'lost', reason: 'late' })
    expect([found, meanwhile, late].map(({ isStarted }) => isStarted())).toEqual([false, false, false])
  })

  it('that heartbeats extend is known to the watchdog when a quarter of the time is over', async () => {
    const { clock, held, lost, run, killTimes, isStarted } = scene(undefined, ...obedient)
    const ended = run.run({})
    await eventually('the command', async () => isStarted())
    const before = killTimes.at(-1) ?? 0
    held.validUntil += 30_000
    await clock.advance(TTL / 4)
    // The clock of the machine stands still in this test: it is only later by the time that the heartbeats have added.
    expect((killTimes.at(-1) ?? 0) - before).toBeGreaterThan(30_000 - TTL / 4 - 1_000)
    lost.abort(loss())
    expect(await ended).toEqual({ type: 'lost', reason: 'broken' })
  })

  it('that no heartbeat extends ends the command before its end', async () => {
    const { clock, run, isStarted } = scene(undefined, ...obedient)
    const ended = run.run({})
    await eventually('the command', async () => isStarted())
    await clock.advance(TTL - 1_500)
    expect(await ended).toEqual({ type: 'lost', reason: 'late' })
  })

  it('that was broken with a period leaves the command this time to end, and another loss leaves none', async () => {
    for (const [period, hasTime] of [
      [30_000, true],
      [undefined, false],
    ] as const) {
      const { clock, lost, run, isStarted, file } = scene(undefined, ...noting)
      const ended = run.run({})
      await eventually('the command', async () => isStarted())
      lost.abort(loss(period === undefined ? undefined : clock.now() + period))
      expect(await ended).toEqual({ type: 'lost', reason: 'broken' })
      expect(existsSync(`${file}.ended`)).toBe(hasTime)
    }
  })
})
