import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { WatchdogError, WatchdogLink } from '../src/run/watchdog-link.js'
import type { WatchedCommand } from '../src/run/watchdog-message.js'
import type { WatchdogProcess } from '../src/run/watchdog-process.js'

const command: WatchedCommand = {
  mark: { runId: 'run', since: '' },
  killAfter: 1_000,
  plan: { terminateAt: undefined, killAt: undefined },
}
const failure = Object.assign(new Error('spawn node EAGAIN'), { code: 'EAGAIN' })

/** A watchdog that answers when `answer` is called; `ended`: it could not be started. */
function watchdog({ ended = false } = {}) {
  let answer = (): void => {}
  const lines: string[] = []
  const process: Partial<WatchdogProcess> = {
    pid: undefined,
    ended: ended ? Promise.resolve(failure) : new Promise(() => {}),
    onAnswer: (listener) => {
      answer = listener
    },
    tell: (line) => void lines.push(line),
    end: () => {},
  }
  return { process: process as WatchdogProcess, lines, answer: () => answer() }
}

/** Tells how a promise has settled by the time it is called: with an error, `done`, or `undefined`. */
function settled(promise: Promise<void>): () => Promise<unknown> {
  const outcome = promise.then(() => 'done').catch((error: unknown) => error)
  return () => Promise.race([outcome, new Promise((resolve) => setImmediate(resolve))])
}

it('is armed when the watchdog has answered', async () => {
  const { process, lines, answer } = watchdog()
  const arming = new WatchdogLink(new VirtualClock(), process).arm(command, new AbortController().signal)
  expect(await settled(arming)()).toBeUndefined()
  expect(lines).toEqual([JSON.stringify(command)])
  answer()
  await arming
})

it('gives a command up, if no watchdog can be started', async () => {
  const started: unknown[] = []
  const clock = new VirtualClock()
  const link = new WatchdogLink(clock, watchdog({ ended: true }).process, () => {
    started.push(clock.now())
    return watchdog({ ended: true }).process
  })
  const ended = settled(link.arm(command, new AbortController().signal))
  await clock.advance(10_000)
  link.close()
  expect(await ended()).toBeInstanceOf(WatchdogError)
  expect(started.length).toBeGreaterThan(3)
})

it('starts another watchdog for the one that has ended, and arms that one', async () => {
  const [first, second] = [watchdog({ ended: true }), watchdog()]
  const clock = new VirtualClock()
  const link = new WatchdogLink(clock, first.process, () => second.process)
  const arming = link.arm(command, new AbortController().signal)
  await clock.advance(1_000)
  expect(second.lines).toEqual([JSON.stringify(command)])
  second.answer()
  await arming
})

it('gives a command up, if the watchdog does not answer', async () => {
  const clock = new VirtualClock()
  const ended = settled(new WatchdogLink(clock, watchdog().process).arm(command, new AbortController().signal))
  await clock.advance(60_000)
  expect(await ended()).toMatchObject({ name: 'WatchdogError', message: expect.stringContaining('does not answer') })
})

it('gives a command up when it is stopped, before and while it waits for the answer', async () => {
  const stop = new AbortController()
  const link = new WatchdogLink(new VirtualClock(), watchdog().process)
  const ended = settled(link.arm(command, stop.signal))
  stop.abort()
  expect(await ended()).toBe(stop.signal.reason)
  await expect(link.arm(command, stop.signal)).rejects.toBe(stop.signal.reason)
})
