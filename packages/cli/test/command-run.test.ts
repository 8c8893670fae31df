import { existsSync } from 'node:fs'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { CommandRun, type CommandSurroundings } from '../src/run/command-run.js'
import { GrantValidity } from '../src/run/grant-validity.js'

const TTL = 60_000

/** A command under a valid grant, which would leave a file. `arming`: called when the watchdog watches. */
function scene(arming: () => void = () => {}) {
  const file = `${temporaryFolder()}/started`
  const validity = new GrantValidity()
  validity.granted({ name: 'x', grantId: 'a', ttl: TTL }, 0)
  const stop = new AbortController()
  const directed: unknown[] = []
  const disarmed: unknown[] = []
  const around = {
    command: ['touch', file],
    env: { PATH: process.env.PATH },
    times: { killAfter: 1_000, margin: 500 },
    clock: new VirtualClock(),
    watchdog: {
      pid: undefined,
      arm: async () => arming(),
      update: () => {},
      disarm: () => void disarmed.push('disarmed'),
    } as Partial<CommandSurroundings['watchdog']> as CommandSurroundings['watchdog'],
    notices: { say: () => {} } as Partial<CommandSurroundings['notices']> as CommandSurroundings['notices'],
    signals: {
      stop: stop.signal,
      direct: (target: unknown) => void directed.push(target),
    } as Partial<CommandSurroundings['signals']> as CommandSurroundings['signals'],
  }
  const isStarted = (): boolean => existsSync(file)
  return { validity, around, run: new CommandRun(validity, around), stop, directed, disarmed, isStarted }
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
  const { validity, around } = scene()
  const tooLong = new CommandRun(validity, { ...around, command: ['true', 'x'.repeat(8_000_000)] })
  expect(await tooLong.run({})).toMatchObject({ type: 'unstartable', program: 'true', error: { code: 'E2BIG' } })
})
