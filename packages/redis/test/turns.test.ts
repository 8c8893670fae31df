import { AbortableCall } from '@leasehold/core/store'
import { MessageListeners } from '@leasehold/core/store-kit'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../src/client/connection.js'
import { LazyConnection } from '../src/client/lazy-connection.js'
import { Traffic } from '../src/client/traffic.js'
import { Turns } from '../src/turns.js'

/** Each attempt to subscribe, in order: `silent` never answers. */
type Answer = 'subscribed' | 'refused' | 'silent'

/** A connection of the subscription. */
class FakeConnection implements Connection {
  readonly traffic = new Traffic()
  readonly #answer: Answer
  readonly #onEnd: (() => void)[] = []
  #onMessage: (message: string) => void = expect.fail
  isDropped = false

  constructor(answer: Answer) {
    this.#answer = answer
  }

  connect(): Promise<void> {
    return Promise.resolve()
  }

  nodeOf(): string {
    return ''
  }

  prepare(): undefined {
    return undefined
  }

  run(): never {
    return expect.fail()
  }

  scans(): Promise<readonly []> {
    return Promise.resolve([])
  }

  subscribe(_: string, onMessage: (message: string) => void): Promise<unknown> {
    this.#onMessage = onMessage
    if (this.#answer === 'silent') return new Promise(() => {})
    return this.#answer === 'refused' ? Promise.reject(new Error('refused')) : Promise.resolve()
  }

  onEnd(callback: () => void): void {
    this.#onEnd.push(callback)
  }

  destroy(): void {
    this.isDropped = true
  }

  send(message: string): void {
    this.#onMessage(message)
  }

  /** Its end, which nobody here has asked for. */
  end(): void {
    for (const callback of this.#onEnd.splice(0)) callback()
  }
}

function turnsOver(...answers: readonly Answer[]) {
  const clock = new VirtualClock()
  const connections: FakeConnection[] = []
  const newConnection = (): Connection => {
    const connection = new FakeConnection(answers[connections.length] ?? 'subscribed')
    connections.push(connection)
    return connection
  }
  const adapter = { clustered: false, subscribes: true, keyPrefix: '', newConnection, run: () => Promise.resolve() }
  const messages = new MessageListeners(clock)
  const turns = new Turns(new LazyConnection(adapter, clock), clock, Math.random, 'channel', messages)
  return { clock, connections, messages, turns }
}

/** A subscription that the test sends messages over. */
async function subscribe() {
  const scene = turnsOver()
  await scene.turns.subscribed(new AbortableCall())
  const [connection] = scene.connections
  if (connection === undefined) throw new Error('no connection')
  return { ...scene, connection }
}

describe('a subscription over which an echo is expected', () => {
  it('is dropped if there is none within 2 s', async () => {
    const { clock, turns, connection } = await subscribe()
    await clock.advance(5_000)
    turns.expectEcho(clock.now())
    await clock.advance(1_999)
    expect(connection.isDropped).toBe(false)
    await clock.advance(1)
    expect(connection.isDropped).toBe(true)
  })

  it.each([
    ['before that', 1_000],
    ['while the event loop was blocked, and is read after it', 2_500],
  ])('is kept if it came %s', async (_, after) => {
    const { clock, turns, connection } = await subscribe()
    await clock.advance(5_000)
    turns.expectEcho(clock.now())
    clock.schedule(after, () => connection.send('here'))
    clock.block(3_000)
    await clock.settle()
    await clock.advance(60_000)
    expect(connection.isDropped).toBe(false)
  })
})

describe('a subscription that has ended', () => {
  it('is renewed while there are waiters, who then look: their turn may have come in between', async () => {
    const { clock, turns, messages, connections } = await subscribe()
    const call = new AbortableCall()
    const listening = messages.listen('turn a', call)
    const woken = listening.next()
    await clock.settle()
    let isWoken = false
    void woken.then(() => {
      isWoken = true
    })
    await clock.settle()
    expect(isWoken).toBe(false)
    connections[0]?.end()
    await clock.settle()
    expect([isWoken, turns.isSubscribed]).toEqual([false, false])
    await clock.advance(100)
    expect([isWoken, turns.isSubscribed, connections.length]).toEqual([true, true, 2])
    call.abort(new Error('over'))
    await listening.return(undefined)
  })
})

describe('an attempt to subscribe', () => {
  it('that is refused leaves no connection open', async () => {
    const { turns, connections } = turnsOver('refused')
    await expect(turns.subscribed(new AbortableCall())).rejects.toThrow('refused')
    expect(connections.map(({ isDropped }) => isDropped)).toEqual([true])
    await turns.subscribed(new AbortableCall())
    expect(connections.length).toBe(2)
  })

  it('over a silent connection ends with the first caller who has waited for half a second', async () => {
    const { clock, turns, connections } = turnsOver('silent')
    const call = new AbortableCall()
    const subscribing = turns.subscribed(call).catch((error: unknown) => error)
    await clock.advance(600)
    call.abort(new Error('too late'))
    expect(await subscribing).toMatchObject({ message: 'too late' })
    expect(connections[0]?.isDropped).toBe(true)
  })

  it('goes on for others if a caller gave up sooner', async () => {
    const { clock, turns, connections } = turnsOver('silent')
    const call = new AbortableCall()
    const subscribing = turns.subscribed(call).catch((error: unknown) => error)
    await clock.advance(400)
    call.abort(new Error('too early'))
    await subscribing
    expect(connections[0]?.isDropped).toBe(false)
    turns.close()
  })
})
