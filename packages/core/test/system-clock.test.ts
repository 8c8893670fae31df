import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { createSystemClock } from '@leasehold/core/internal'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** The two ends of a connection. */
async function pair(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const near = connect((server.address() as { port: number }).port)
  const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as unknown as [[Socket]]
  server.close()
  return [near, far]
}

function block(duration: number): void {
  const until = systemClock.now() + duration
  while (systemClock.now() < until);
}

describe('a task without a delay', () => {
  it('runs after the answers are read that have come, however late it is', async () => {
    const [near, far] = await pair()
    const order: string[] = []
    far.on('data', () => order.push('answer'))
    await new Promise<void>((resolve) => {
      // Timers may go on while any of them is due.
      systemClock.schedule(1, () => {
        systemClock.schedule(0, () => {
          order.push('task')
          resolve()
        })
        near.write('answer')
        block(50)
      })
    })
    expect(order).toEqual(['answer', 'task'])
    near.destroy()
  })

  it('runs in the next turn, and not within this one', async () => {
    let hasRun = false
    systemClock.schedule(-5, () => {
      hasRun = true
    })
    await Promise.resolve()
    expect(hasRun).toBe(false)
    await sleep(20)
    expect(hasRun).toBe(true)
  })

  it('does not run once it is cancelled', async () => {
    let hasRun = false
    const cancel = systemClock.schedule(0, () => {
      hasRun = true
    })
    cancel()
    await sleep(20)
    expect(hasRun).toBe(false)
  })
})

describe('a suspend', () => {
  it.for([1_000, 1_009, 9_999.5])('of %d ms counts for no less, although the boot clock has steps', (duration) => {
    const machine = new VirtualClock()
    const clock = createSystemClock(machine.readings)
    machine.suspend(duration)
    expect(clock.now()).toBeGreaterThanOrEqual(duration)
    expect(clock.now()).toBeLessThanOrEqual(duration + 2 * 10)
  })
})
