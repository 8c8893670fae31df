import { AbortableCall, MessageListeners } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../src/client/connection.js'
import { LazyConnection } from '../src/client/lazy-connection.js'
import { Traffic } from '../src/client/traffic.js'
import { Turns } from '../src/turns.js'

/** A subscription that the test sends messages over. */
async function subscribe() {
  const clock = new VirtualClock()
  let send: (message: string) => void = expect.fail
  let isDropped = false
  const connection: Connection = {
    traffic: new Traffic(),
    connect: () => Promise.resolve(),
    nodeOf: () => '',
    prepare: () => undefined,
    run: expect.fail,
    scans: () => Promise.resolve([]),
    subscribe: (_, onMessage) => {
      send = onMessage
      return Promise.resolve()
    },
    onEnd: () => {},
    destroy: () => {
      isDropped = true
    },
  }
  const adapter = { clustered: false, keyPrefix: '', newConnection: () => connection, run: () => Promise.resolve() }
  const turns = new Turns(new LazyConnection(adapter, clock), clock, 'channel', new MessageListeners(clock))
  await turns.subscribed(new AbortableCall())
  return { clock, turns, send: (message: string) => send(message), isDropped: () => isDropped }
}

describe('a subscription over which an echo is expected', () => {
  it('is dropped if there is none within 2 s', async () => {
    const { clock, turns, isDropped } = await subscribe()
    await clock.advance(5_000)
    turns.expectEcho(clock.now())
    await clock.advance(1_999)
    expect(isDropped()).toBe(false)
    await clock.advance(1)
    expect(isDropped()).toBe(true)
  })

  it.each([
    ['before that', 1_000],
    ['while the event loop was blocked, and is read after it', 2_500],
  ])('is kept if it came %s', async (_, after) => {
    const { clock, turns, send, isDropped } = await subscribe()
    await clock.advance(5_000)
    turns.expectEcho(clock.now())
    clock.schedule(after, () => send('here'))
    clock.block(3_000)
    await clock.settle()
    await clock.advance(60_000)
    expect(isDropped()).toBe(false)
  })
})
