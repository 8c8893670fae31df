import { AbortableCall } from '@leasehold/core/store'
import { MessageListeners, Subscription } from '@leasehold/core/store-kit'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** A subscription whose attempts to open end as the test decides. */
function begin() {
  const clock = new VirtualClock()
  const messages = new MessageListeners(clock)
  const lines: AbortableCall[] = []
  const decide: { open: () => void; fail: () => void }[] = []
  const open = (line: AbortableCall): Promise<void> =>
    new Promise((resolve, reject) => {
      lines.push(line)
      decide.push({ open: resolve, fail: () => reject(new Error('refused')) })
    })
  const options = { open, timeout: 5_000, firstPause: 100, longestPause: 400 }
  const subscription = new Subscription(options, messages, clock, () => 1)
  const listener = new AbortableCall()
  const heard: undefined[] = []
  const listen = async (): Promise<void> => {
    for await (const message of messages.listen('free', listener)) heard.push(message)
  }
  return { clock, subscription, lines, decide, listen, listener, heard }
}

describe('a subscription', () => {
  it('is opened once for all callers, and notifies the listeners', async () => {
    const { clock, subscription, lines, decide, listen, heard } = begin()
    void listen()
    const both = Promise.all([subscription.opened(), subscription.opened()])
    expect(subscription.isOpen).toBe(false)
    decide[0]?.open()
    await both
    await clock.advance(0)
    expect(subscription.isOpen).toBe(true)
    expect(lines).toHaveLength(1)
    expect(heard).toHaveLength(1)
  })

  it('is opened again while there are listeners, after pauses that grow', async () => {
    const { clock, subscription, lines, decide, listen, listener } = begin()
    void listen()
    void subscription.opened()
    decide[0]?.open()
    await clock.advance(0)
    lines[0]?.abort(new Error('ended'))
    expect(subscription.isOpen).toBe(false)
    for (const [attempt, pause] of [100, 200, 400, 400].entries()) {
      await clock.advance(pause - 1)
      expect(lines).toHaveLength(attempt + 1)
      await clock.advance(1)
      expect(lines).toHaveLength(attempt + 2)
      decide[attempt + 1]?.fail()
      await clock.advance(0)
    }
    listener.abort()
    await clock.advance(1_000)
    expect(lines).toHaveLength(5)
  })

  it('rejects with the reason of a failure, and keeps the pause for callers who do not wait', async () => {
    const { clock, subscription, lines, decide } = begin()
    const opened = subscription.opened()
    decide[0]?.fail()
    await expect(opened).rejects.toThrow('refused')
    expect(lines[0]?.aborted).toBe(true)
    subscription.openSoon()
    expect(lines).toHaveLength(1)
    await clock.advance(100)
    subscription.openSoon()
    expect(lines).toHaveLength(2)
  })

  it('gives up an attempt that takes too long, or when a caller asks for that', async () => {
    const { clock, subscription, lines } = begin()
    const slow = subscription.opened()
    const refused = expect(slow).rejects.toThrow('took too long')
    await clock.advance(4_999)
    expect(subscription.openingFor).toBe(4_999)
    expect(lines[0]?.aborted).toBe(false)
    await clock.advance(1)
    await refused
    const given = subscription.opened()
    subscription.giveUpOpening(new Error('silent'))
    await expect(given).rejects.toThrow('silent')
    expect(subscription.openingFor).toBe(0)
  })

  it('stays closed', async () => {
    const { clock, subscription, lines, decide, listen } = begin()
    void listen()
    void subscription.opened()
    decide[0]?.open()
    await clock.advance(0)
    subscription.close(new Error('closed'))
    expect(lines[0]?.aborted).toBe(true)
    await clock.advance(10_000)
    await expect(subscription.opened()).rejects.toThrow('closed')
    expect(lines).toHaveLength(1)
  })
})
